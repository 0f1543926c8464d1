"""Small files that claim to be large are read or refused in little memory and time."""

import json
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from fuzz import bombs
from fuzz.measured import bounded, measure, measure_file
from fuzz.targets_results import result_folder
from slanted.batch.pairs import find_pairs
from slanted.batch.summary import MOST_SHOWN, find_results, read_summary
from slanted.errors import FileError
from slanted.evaluation.metrics import evaluate
from slanted.io import describe, read_bytes, read_calibration, read_disparity, read_image
from slanted.io.image_header import ImageHeader, check_unpacked
from slanted.io.tables import table_rows
from slanted.io.texts import load_json, read_toml
from slanted.result_folder import open_result
from slanted.settings import Settings

WORST = (
    *("rgba16.png", "grey16.png", "texts.png", "claims.jpg", "frames.jpg", "scans.jpg"),
    *("deflated.tif", "tags.tif", "comments.pgm", "spaces.pgm", "dots.toml", "table.toml"),
    *("tables.toml", "hex.toml", "lines.jsonl", "blank.txt", "complex.npz"),
)
"""Those that took more than 600 MB or 5 s once; ``python -m fuzz.measure`` tries all."""


@pytest.mark.parametrize("name", WORST)
def test_a_small_file_takes_little(tmp_path, name):
    (tmp_path / name).write_bytes(bombs.BOMBS[name](1.0))
    assert (tmp_path / name).stat().st_size < 2**24
    found = measure_file(tmp_path / name)
    assert found.is_modest, found
    assert found.code in (0, 2), found
    assert "Traceback" not in found.text


@pytest.mark.parametrize("name", bombs.BOMBS)
def test_bombs_are_what_they_claim(name):
    """Their small versions, which are seeds of the fuzzer, are files of their kind."""
    starts = {".png": bombs.PNG, ".jpg": b"\xff\xd8\xff", ".tif": b"II*\0", ".bmp": b"BM",
              ".pgm": b"P", ".npz": b"PK\3\4", ".glb": b"glTF"}  # fmt: skip
    data = bombs.BOMBS[name](0.001)
    assert data.startswith(starts.get(name[-4:], b""))


def test_packed_zeros_are_zeros():
    for count in (0, 5, 2**20, 3 * 2**20 + 7):
        assert zlib.decompress(bombs.zeros(count)) == bytes(count)


def test_a_map_to_evaluate(tmp_path):
    for side, words in ((5000, "mean"), (5800, "at most 33554432 pixels")):
        (tmp_path / "map.png").write_bytes(constant_map(side))
        found = measure("evaluate", str(tmp_path / "map.png"), str(tmp_path / "map.png"), "--json")
        assert found.is_modest, found
        assert words in found.text


def constant_map(side):
    """Return a KITTI map of one level, 257, in few bytes."""
    header = struct.pack(">IIBBBBB", side, side, 16, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\1" * 2 * side) * side, 1)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return bombs.PNG + b"".join(bombs.png_chunk(*chunk) for chunk in chunks)


# --- what is large and honest is read --------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "size"),
    [
        (ImageHeader("JPEG", 12_000, 8_400, 8, 3), 4_000_000),
        (ImageHeader("PNG", 12_000, 8_400, 16, 3), 5_000_000),
        (ImageHeader("PNG", 11_000, 11_000, 16, 1), 120_000),
        (ImageHeader("TIFF", 23_000, 23_000, 8, 3), 2**29),
    ],
)
def test_large_images_are_no_bombs(tmp_path, header, size):
    check_unpacked(tmp_path, header, size)


def test_a_drawing_of_24_megapixels_is_read(tmp_path):
    (tmp_path / "flat.png").write_bytes(bombs.png(4900))
    assert read_image(tmp_path / "flat.png").shape == (4900, 4900)
    assert describe(tmp_path / "flat.png")["highest"] == 0


def test_what_is_too_large_for_a_range_is_described_by_its_header(tmp_path):
    (tmp_path / "flat.png").write_bytes(bombs.png(8300, 16))
    with bounded():
        found = describe(tmp_path / "flat.png")
    assert (found["width_pixels"], found["bits"], found["channels"]) == (8300, 16, 1)
    assert found["meaning"] == "16-bit grey image or map; too large to show its range"


def test_errors_are_the_same_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.uniform(1, 60, (40, 30)).astype(np.float32)
    truth[rng.random(truth.shape) < 0.3] = np.nan
    estimate = truth + rng.normal(0, 3, truth.shape)
    estimate[rng.random(truth.shape) < 0.1] = np.inf
    visible = rng.random(truth.shape) < 0.5
    whole = evaluate(estimate, truth, ground_truth_noc=visible)
    monkeypatch.setattr("slanted.evaluation.metrics.PIXELS_AT_A_TIME", 70)
    assert evaluate(estimate, truth, ground_truth_noc=visible) == pytest.approx(whole, rel=1e-12)


def test_colours_of_a_palette_are_kept(tmp_path):
    palette = b"\x10\x20\x30\0\x40\x50\x60\0"  # blue, green, red
    head = b"BM" + struct.pack("<IIIIiiHHI20x", 0, 0, 62, 40, 8, 1, 1, 1, 0)
    (tmp_path / "a.bmp").write_bytes(head + palette + b"\x0f\0\0\0")
    assert read_image(tmp_path / "a.bmp")[0, [0, 7]].tolist() == [[48, 32, 16], [96, 80, 64]]
    assert describe(tmp_path / "a.bmp")["channels"] == 3


def test_texts_and_animations_of_a_png_are_left_out(tmp_path):
    extra = bombs.png_chunk(b"tEXt", b"a\0b") + bombs.png_chunk(b"acTL", struct.pack(">II", 1, 0))
    (tmp_path / "a.png").write_bytes(bombs.png(20, extra=extra))
    assert not read_image(tmp_path / "a.png").any()


def test_plain_pixels_may_be_split_anywhere(tmp_path, monkeypatch):
    pixels = np.arange(60, dtype=np.uint16).reshape(6, 10) * 1000
    text = " ".join(map(str, pixels.ravel().tolist()))
    (tmp_path / "a.pgm").write_bytes(f"P2 10 6 65535\n{text}".encode())
    for size in (1, 2, 3, 7, 64, 2**20):
        monkeypatch.setattr("slanted.io.pnm._TEXT_AT_A_TIME", size)
        assert (read_image(tmp_path / "a.pgm") == pixels).all()


# --- texts and tables -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["a.b.c.d = 1", f"'x.y' = '{'a.' * 40}'", f"a = [{'0.5,' * 99}]", f"# {'a. ' * 40}"]
)
def test_usual_keys_and_values_are_read(tmp_path, text):
    (tmp_path / "a.toml").write_text(text)
    assert read_toml(tmp_path / "a.toml") is not None


def test_brackets_in_strings_are_not_nested():
    text = json.dumps({"a": ["[{" * 100, '\\"[' * 100], "b": "\\"})
    assert load_json(text) == json.loads(text)
    with pytest.raises(ValueError, match="nested too deeply"):
        load_json("[" * 65 + "]" * 65)


def test_a_row_of_a_table_may_have_lines():
    assert list(table_rows(b'a,"b\nc"\nd,e\n')) == [["a", "b\nc"], ["d", "e"]]
    assert len(list(table_rows(b"a,%s\n" % (b"b" * 1000) * 1000))) == 1000
    with pytest.raises(ValueError, match="rows of at most"):
        list(table_rows(b'"%s"\n' % (b"b\n" * 2**16)))


def test_manifests_of_too_many_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr("slanted.batch.pairs.MOST_PAIRS", 3)
    (tmp_path / "pairs.csv").write_text("left,right,name\n" + "l,r,1\nl,r,2\nl,r,3\n")
    assert len(find_pairs(tmp_path / "pairs.csv")) == 3
    (tmp_path / "pairs.csv").write_text("left,right\n" + "l,r\n" * 4)
    with pytest.raises(FileError, match="at most 3 pairs"):
        find_pairs(tmp_path / "pairs.csv")


def test_summaries_of_too_many_pairs(tmp_path, monkeypatch):
    (tmp_path / "summary.jsonl").write_bytes(b'{"name":"a","status":""}\n' * 640_000)
    with bounded(megabytes=40), pytest.raises(FileError, match=f"at most {MOST_SHOWN} pairs"):
        read_summary(tmp_path)
    monkeypatch.setattr("slanted.batch.summary.MOST_PAIRS", 30_000)
    with bounded(megabytes=1), pytest.raises(FileError, match="at most 30000 pairs"):
        find_results(tmp_path)
    (tmp_path / "summary.jsonl").write_bytes(b'{"name":"' + b"a" * 20_000_000)
    with bounded(megabytes=2), pytest.raises(FileError, match="expected the summary of a batch"):
        find_results(tmp_path)


# --- results ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [1500, 20_000])
def test_a_result_of_a_few_bytes(tmp_path, side):
    for name, data in result_folder().items():
        (tmp_path / name).write_bytes(data)
    arrays = {"segments": ("<i4", (side, side), 4 * side**2 if side < 9999 else 0)}
    (tmp_path / "result.npz").write_bytes(bombs.npz(arrays))
    with bounded(), pytest.raises(FileError, match="do not fit into its files"):
        open_result(tmp_path)


def test_an_image_larger_than_its_result(tmp_path):
    for name, data in result_folder().items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "left.png").write_bytes(bombs.png(4000))
    with pytest.raises(FileError, match="do not fit into its files"):
        open_result(tmp_path)


def test_segments_of_single_pixels(tmp_path):
    for name, data in result_folder().items():
        (tmp_path / name).write_bytes(data)
    labels = np.arange(300 * 300, dtype=np.int32).reshape(300, 300)
    np.savez_compressed(tmp_path / "result.npz", segments=labels)
    assert (tmp_path / "result.npz").stat().st_size < 2**18
    with bounded(), pytest.raises(FileError, match="89999 segments do not fit"):
        open_result(tmp_path)


def test_arrays_are_read_in_parts(tmp_path, monkeypatch):
    from slanted.io.arrays import StoredArrays

    values = np.asfortranarray(np.arange(30, dtype=">f8").reshape(5, 6))
    np.savez_compressed(tmp_path / "a.npz", a=values, b=np.int16(7), c=np.zeros((0, 3)))
    for size in (1, 7, 2**20):
        monkeypatch.setattr("slanted.io.arrays._BYTES_AT_A_TIME", size)
        with StoredArrays(tmp_path / "a.npz", "arrays") as stored:
            assert (stored.read("a", "f", (5, 6), 30) == values).all()
            assert stored.read("b", "i", (), 1) == 7
            assert stored.read("c", "f", (0, 3), 1).shape == (0, 3)
    with (
        zipfile.ZipFile(tmp_path / "a.npz") as whole,
        zipfile.ZipFile(tmp_path / "b.npz", "w") as archive,
    ):
        archive.writestr("a.npy", whole.read("a.npy")[:-1])
    with StoredArrays(tmp_path / "b.npz", "arrays") as stored, pytest.raises(FileError):
        stored.read("a", "f", (5, 6), 30)


# --- files that are none ---------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", ["self/status", "kmsg", "self/pagemap", "kcore"])
def test_files_of_the_kernel_are_refused(tmp_path, name):
    file = Path("/proc", name)
    if not file.exists():
        pytest.skip(f"no {file}")
    (tmp_path / "link.png").symlink_to(file)
    readers = (read_bytes, read_image, read_disparity, read_calibration, Settings.load, describe)
    for path in (file, tmp_path / "link.png"):
        for read in readers:
            with bounded(), pytest.raises(FileError, match="one of the kernel"):
                read(path)


def test_files_larger_than_memory(tmp_path):
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(2**43)
    for read in (read_bytes, read_image, read_disparity, describe):
        with bounded(), pytest.raises(FileError, match="of at most 17179869184 bytes"):
            read(tmp_path / "large.png")


def test_a_file_that_does_not_fit_is_refused(tmp_path):
    """In a process of its own, whose memory is limited."""
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(2**32)
    script = (
        "import resource, sys\nfrom slanted.io import read_bytes\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\nread_bytes(sys.argv[1])"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "large.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "FileError" in done.stderr
    assert "do not fit into memory" in done.stderr
