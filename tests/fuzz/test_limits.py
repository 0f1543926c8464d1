"""Limits: what is too large, endless or leads elsewhere is refused in a sentence, at once."""

import io
import json
import os
import struct
import zipfile
import zlib

import numpy as np
import pytest

from fuzz.measured import bounded
from fuzz.targets_results import result_folder
from slanted.batch.pairs import find_pairs, output_folder
from slanted.cli import main
from slanted.errors import FileError, InputError, SlantedError
from slanted.images.checks import check_image
from slanted.io import read_bytes, read_calibration, read_disparity, read_image
from slanted.io.arrays import encode_npy
from slanted.result import Result
from slanted.result_folder import open_result
from slanted.settings import Settings


def png(width, height, pixels, bits=8, colour=0):
    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


@pytest.fixture
def result(tmp_path):
    folder = tmp_path / "result"
    folder.mkdir()
    for name, data in result_folder().items():
        (folder / name).write_bytes(data)
    return folder


def rewrite(folder, changes, compression=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(folder / "result.npz") as old,
        zipfile.ZipFile(stream, "w", compression) as new,
    ):
        for name in old.namelist():
            if name not in changes:
                new.writestr(name, old.read(name))
        for name, data in changes.items():
            new.writestr(name, data)
    (folder / "result.npz").write_bytes(stream.getvalue())


# --- images ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.png", png(60_000, 60_000, bytes(10**6)), "60000 × 60000"),
        ("a.png", png(20_000, 20_000, bytes(1000)), "truncated, it ends within its pixels"),
        ("a.png", png(23_000, 23_000, bytes(1000), bits=16, colour=6), "ends within its pixels"),
        ("a.pgm", b"P5 60000 60000 255\n" + bytes(1000), "truncated"),
        ("a.pgm", b"P2 999999999 999999999 255\n1 2", "truncated"),
        ("a.bmp", b"BM" + struct.pack("<IIIIiiHHI", 0, 0, 54, 40, 60_000, 60_000, 1, 24, 0) + bytes(99), "trunc"),
        ("a.tif", b"II*\0" + struct.pack("<IH", 8, 0xFFFF), "truncated"),
    ],
)  # fmt: skip
def test_image_bombs(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with bounded(), pytest.raises(FileError, match=words):
        read_image(tmp_path / name)


def test_a_bomb_of_a_jpeg(tmp_path):
    frame = struct.pack(">HBHHB", 11, 8, 65_500, 65_500, 1) + b"\1\x11\0"
    scan = struct.pack(">HBBBBBB", 8, 1, 1, 0, 0, 63, 0)
    (tmp_path / "a.jpg").write_bytes(
        b"\xff\xd8\xff\xc0" + frame + b"\xff\xda" + scan + b"abc\xff\xd9"
    )
    with bounded(), pytest.raises(FileError, match="65500 × 65500"):
        read_image(tmp_path / "a.jpg")


@pytest.mark.parametrize("shape", [(1, 10**6), (10**6, 1)])
def test_a_million_to_one(tmp_path, shape, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thin.pgm").write_bytes(b"P5 %d %d 255\n" % shape[::-1] + bytes(10**6))
    with bounded(), pytest.raises(SystemExit) as exited:
        main(["run", "thin.pgm", "thin.pgm", "-o", "out"])
    assert exited.value.code == 2
    assert "thin.pgm: expected at least 8×8 pixels" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="at least 8×8"):
        check_image("left", np.zeros(shape, np.uint8))


@pytest.mark.parametrize("header", [b"Pf\n60000 60000\n-1\n", b"Pf\n9999999999 9999999999\n-1\n"])
def test_map_bombs(tmp_path, header):
    (tmp_path / "a.pfm").write_bytes(header + bytes(100))
    with bounded(), pytest.raises(FileError, match="PFM"):
        read_disparity(tmp_path / "a.pfm")


# --- files that never end, or are too large for what they should be ---------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_pipes_and_devices_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    for name in ("pipe.png", "zero.png"):
        for read in (read_image, read_disparity, read_calibration, Settings.load):
            with bounded(), pytest.raises(FileError, match="device or pipe"):
                read(tmp_path / name)


def test_texts_have_a_largest_size(tmp_path):
    file = tmp_path / "large.toml"
    with file.open("wb") as stream:
        stream.truncate(2**25)
    for read, words in (
        (Settings.load, "at most"),
        (find_pairs, "is no CSV"),
        (read_calibration, "at most"),
    ):
        with bounded(megabytes=250), pytest.raises(FileError, match=words):
            read(file)
    with pytest.raises(FileError, match=f"at most 10 bytes, but it has {2**25}"):
        read_bytes(file, 10)


# --- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[" * 10**6, "nested too deeply"),
        (b'{"a":' * 10**5, "nested too deeply"),
        (b'{"width": ' + b"9" * 10**5 + b"}", "fails to parse"),
        (b" " * 2**25, "at most"),
        (b'{"iterations": 3}', "another version"),
    ],
)
def test_hostile_records(result, content, words):
    (result / "run.json").write_bytes(content)
    with bounded(megabytes=60), pytest.raises(FileError, match=words):
        open_result(result)


def test_arrays_of_objects_are_not_unpickled(result, monkeypatch):
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object))
    monkeypatch.setattr("pickle.loads", None)
    monkeypatch.setattr("pickle.load", None)
    for name in ("segments", "planes", "weights"):
        rewrite(result, {f"{name}.npy": stream.getvalue()})
        with pytest.raises(
            FileError, match="expected an array of numbers, but its dtype is object"
        ):
            Result.load(result)
        for file, data in result_folder().items():
            (result / file).write_bytes(data)


@pytest.mark.parametrize("name", ["matched", "planes", "labels", "histograms", "weights"])
def test_what_does_not_fit_is_never_unpacked(result, name):
    kind = np.int32 if name == "labels" else np.float32
    bomb = encode_npy(np.zeros((4000, 4000), kind))
    rewrite(result, {f"{name}.npy": bomb})
    assert (result / "result.npz").stat().st_size < 10**6
    del bomb
    with bounded(), pytest.raises(FileError, match=rf"{name} has shape \(4000, 4000\)"):
        Result.load(result)


def test_what_is_not_asked_for_is_never_unpacked(result):
    rewrite(result, {"extra.npy": encode_npy(np.zeros((4000, 4000), np.float32))})
    with bounded():
        assert Result.load(result).regions.count > 1


def test_segments_too_large_for_this_machine(result, monkeypatch):
    rewrite(result, {"segments.npy": encode_npy(np.zeros((1400, 1400), np.int32))})
    monkeypatch.setattr("slanted.runtime.memory.available_bytes", lambda: 2**26)
    with bounded(), pytest.raises(FileError, match=r"segments has shape \(1400, 1400\)"):
        Result.load(result)


def test_a_member_that_is_longer_than_its_header_says(result):
    data = encode_npy(np.zeros((4, 4), np.int32))
    rewrite(result, {"segments.npy": data + bytes(50_000_000)})
    with bounded(), pytest.raises(FileError, match="bytes were announced"):
        Result.load(result)


@pytest.mark.parametrize("name", ["left.png", "right.png", "ground_truth.pfm", "result.npz", "run.json", "settings.toml"])  # fmt: skip
def test_links_out_of_a_result_are_not_followed(result, tmp_path, name):
    outside = tmp_path / "secret"
    if (result / name).exists():
        (result / name).rename(outside)
    else:
        outside.write_bytes(b"Pf\n1 1\n-1\n" + bytes(4))
    (result / name).symlink_to(outside)
    with pytest.raises(FileError, match=f"{name}: leads out of the folder"):
        open_result(result)


def test_links_inside_a_result_are_followed_and_circles_are_not(result):
    (result / "left.png").rename(result / "view.png")
    (result / "left.png").symlink_to("view.png")
    assert open_result(result).left is not None
    (result / "right.png").unlink()
    (result / "right.png").symlink_to("right.png")
    with pytest.raises(SlantedError, match=r"right\.png"):
        open_result(result)


# --- batches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/etc/a", "a/./b", "..", "a/.."])
def test_names_of_a_manifest_stay_inside(tmp_path, name, capsys):
    (tmp_path / "pairs.csv").write_text(f"left,right,name\nl.png,r.png,{name}\n")
    with pytest.raises(SystemExit) as exited:
        main(["batch", str(tmp_path / "pairs.csv"), "-o", str(tmp_path / "deep" / "out")])
    assert exited.value.code == 2
    assert "cannot be the name of a pair" in capsys.readouterr().err
    assert not (tmp_path / "deep").exists()


def test_links_of_an_output_stay_inside(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "away").symlink_to("/tmp")
    (out / "circle").symlink_to("circle")
    for name in ("away/a", "circle/a"):
        with pytest.raises(FileError, match="leads out of"):
            output_folder(out, name)


def test_a_manifest_of_many_lines_is_read_in_time(tmp_path):
    lines = "".join(f"l{k}.png,r{k}.png\n" for k in range(3000))
    (tmp_path / "pairs.csv").write_text("left,right\n" + lines)
    with bounded(megabytes=20, seconds=10):
        assert len(find_pairs(tmp_path / "pairs.csv")) == 3000


# --- messages ---------------------------------------------------------------------------------------


def test_a_record_of_a_calibration_that_is_none(result):
    record = json.loads((result / "run.json").read_bytes())
    for bad in (3, [], {"fx_pixels": "x"}, {"fx_pixels": 10**400}, {"fx_pixels": None}):
        (result / "run.json").write_text(json.dumps({**record, "calibration": bad}))
        with pytest.raises(FileError, match="calibration of a run"):
            open_result(result)
