"""Results on disk: saved, loaded, refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

import slanted
from slanted.boundary_label import BoundaryLabel
from slanted.errors import FileError, InputError, SlantedWarning
from slanted.output.overlays import LABEL_COLOURS, paint_labels
from slanted.output.result_data import json_text
from slanted.regions import build_regions
from slanted.result import Result
from slanted.synthetic import make_scene

SCENE = make_scene(160, 120, seed=2)


@pytest.fixture(scope="module")
def result():
    # With few sweeps a gap is left.
    rules = {"inference.iterations": "2", "inference.sweeps": "2", "inference.last_sweeps": "auto"}
    settings = slanted.Settings().with_text({"segmentation.count": "60", "seed": "4", **rules})
    return slanted.estimate(SCENE.left, SCENE.right, settings)


def test_the_gap_is_a_share_of_what_lies_above_the_floor(result):
    floor = result.inference.floor
    assert floor < result.bound < result.energy
    expected = (result.energy - result.bound) / (result.energy - floor)
    assert result.gap_above_floor == pytest.approx(expected)
    assert result.gap < result.gap_above_floor <= 1


def test_results_of_older_versions_have_no_floor(result, tmp_path):
    result.save(tmp_path / "old")
    record = json.loads((tmp_path / "old" / "run.json").read_text())
    del record["floor"], record["gap_above_floor_percent"]
    (tmp_path / "old" / "run.json").write_text(json.dumps(record))
    again = Result.load(tmp_path / "old")
    assert np.isnan(again.gap_above_floor)
    again.save(tmp_path / "new")
    assert np.isnan(Result.load(tmp_path / "new").gap_above_floor)


def test_what_is_loaded_is_what_was_saved(result, tmp_path):
    result.save(tmp_path / "one", SCENE.left)
    again = Result.load(tmp_path / "one")
    for name in ("disparity", "matched", "occluded", "planes", "labels"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    assert again.summary() == result.summary()
    assert again.settings == result.settings
    np.testing.assert_array_equal(again.regions.edges, result.regions.edges)
    np.testing.assert_array_equal(again.boundary_owners(), result.boundary_owners())
    names = {file.name for file in (tmp_path / "one").iterdir()}
    assert {"boundaries.png", "result.npz", "run.json", "segments_colour.png"} <= names
    replace(again, left=None).save(tmp_path / "two")
    assert not (tmp_path / "two" / "boundaries.png").exists()  # needs the left image
    assert Result.load(tmp_path / "two").left is None


def test_a_result_keeps_its_pair_and_cameras(result, tmp_path):
    cameras = slanted.Calibration(100.0, 100.0, 79.5, 59.5, 0.1, image_size=(160, 120))
    result.calibrated(cameras).save(tmp_path)
    again = Result.load(tmp_path)
    np.testing.assert_array_equal(again.left, SCENE.left)
    np.testing.assert_array_equal(again.right, SCENE.right)
    assert again.calibration == cameras
    np.testing.assert_array_equal(again.depth(), np.load(tmp_path / "depth.npy"))
    (tmp_path / "left.png").write_bytes(b"no image")
    with pytest.raises(FileError, match=r"left\.png"):
        Result.load(tmp_path)


@pytest.mark.parametrize("name", ["left", "right"])
def test_a_pair_of_another_size_is_refused_before_anything_is_written(result, tmp_path, name):
    sentence = f"^{name}: expected the size of the disparity, 160×120, got 159×120"
    with pytest.raises(InputError, match=sentence):
        result.save(tmp_path / "out", **{name: SCENE.left[:, 1:]})
    assert not (tmp_path / "out").exists()
    slanted.write_image(tmp_path / "other.png", SCENE.left[1:])
    with pytest.raises(InputError, match=r"other\.png: expected the size of the disparity"):
        result.save(tmp_path / "out", **{name: tmp_path / "other.png"})


def test_a_large_result_of_a_blank_wall_is_read(monkeypatch, tmp_path):
    """Its arrays compress to less than what a folder made to exhaust memory would claim."""
    left, right = SCENE.left.copy(), SCENE.right.copy()
    left[:, 50:] = right[:, 30:] = 90
    settings = slanted.Settings().with_text({"rectification.check": "off"})
    result = slanted.estimate(left, right, settings)
    for module in ("result_data", "strangers"):  # that writes it, and that checks it
        monkeypatch.setattr(f"slanted.output.{module}.SMALL_RESULT", 1000)
    result.save(tmp_path)
    assert (tmp_path / "result.npz").stat().st_size > 13 * result.disparity.size
    np.testing.assert_array_equal(Result.load(tmp_path).disparity, result.disparity)


def test_settings_that_an_older_version_did_not_have_are_as_it_was(result, tmp_path):
    result.save(tmp_path / "old")
    file = tmp_path / "old" / "settings.toml"
    names = "guided", "coarse_iterations", "last_sweeps"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(names)]
    file.write_text("\n".join(lines))
    read = Result.load(tmp_path / "old").settings
    assert not read.matching.census.guided
    assert read.segmentation.slic.coarse_iterations == 0
    assert read.inference.last_sweeps is None


def test_a_result_with_the_old_names_of_settings_is_read(result, tmp_path):
    result.save(tmp_path)
    record = json.loads((tmp_path / "run.json").read_text())
    record["features"]["own"] = record["features"].pop("user")
    (tmp_path / "run.json").write_text(json.dumps(record))
    (tmp_path / "settings.toml").write_text(result.settings.identity())
    with pytest.warns(SlantedWarning, match="model.weights.own is now model.weights.user") as said:
        again = Result.load(tmp_path)
    assert len(said) == 1
    assert again.inference.features == result.inference.features
    assert again.settings == result.settings


def test_the_summary_is_plain_json(result):
    summary = json.loads(json.dumps(result.summary()))
    assert summary["segments"] == result.regions.count
    assert sum(summary["boundaries"].values()) == len(result.labels)
    assert summary["bound"] <= summary["energy"] + 1e-6
    assert summary["energy"] == pytest.approx(sum(summary["energies"].values()))
    assert summary["gap_percent"] >= 0
    assert set(summary["seconds"]) > {"matching", "segmentation", "regions", "inference", "total"}


def test_the_front_segment_owns_an_occlusion_boundary(result):
    owners, regions = result.boundary_owners(), result.regions
    for edge, label in enumerate(result.labels):
        share = slice(*regions.boundary_start[edge : edge + 2])
        own = regions.label_image.ravel()[regions.boundary_pixels[share]]
        front = {
            BoundaryLabel.LEFT_OCCLUSION: regions.edges[edge, 0],
            BoundaryLabel.RIGHT_OCCLUSION: regions.edges[edge, 1],
        }.get(BoundaryLabel(int(label)))
        expected = own if front is None else np.full_like(own, front)
        np.testing.assert_array_equal(owners[share], expected)


def test_boundaries_are_painted_by_label_and_side():
    left = np.zeros((6, 12), np.int32)
    left[:, 6:] = 1
    regions = build_regions(left, np.zeros((6, 12, 3), np.uint8))
    names = list(LABEL_COLOURS)
    for label in BoundaryLabel:
        picture = paint_labels(np.zeros((6, 12, 3), np.uint8), regions, np.array([label]))
        painted = {tuple(pixel) for pixel in picture.reshape(-1, 3).tolist() if any(pixel)}
        assert painted == {LABEL_COLOURS[names[label]]}
        columns = np.unique(np.nonzero(picture.any(axis=2))[1]).tolist()
        assert columns == {2: [4, 5], 3: [6, 7]}.get(int(label), [5, 6])  # on the front segment


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("result.npz", None, "result.npz: "),
        ("result.npz", b"PK\x03\x04 nonsense", "expected the arrays of a result"),
        ("run.json", b"{", "expected the record of a result, but it fails to parse"),
        ("run.json", b"[1]", "expected the record of a result, a JSON object"),
        ("run.json", b"{}", "was written by another version of slanted"),
        (
            "run.json",
            b"[" * 100000,
            "expected the record of a result, but it fails to parse: it is nested",
        ),
        ("settings.toml", b"seed = -1", "settings.toml: seed"),
    ],
)
def test_damaged_results_are_refused(result, tmp_path, name, content, message):
    result.save(tmp_path)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(slanted.SlantedError, match=message):
        Result.load(tmp_path)


def test_pickles_inside_a_result_are_not_loaded(result, tmp_path):
    result.save(tmp_path)
    np.savez(tmp_path / "result.npz", segments=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileError, match="expected the arrays of a result"):
        Result.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("planes", lambda a: a[:-1]),
        ("planes", lambda a: a * np.nan),
        ("planes", lambda a: a * 1j),
        ("labels", lambda a: a + 9),
        ("labels", lambda a: a.astype(float)),
        ("matched", lambda a: a[1:]),
        ("margins", lambda a: a[:, None]),
        ("chi_squared", lambda a: a[:-1]),
        ("weights", lambda _: np.ones((2, 2), np.float32)),
        ("segments", lambda a: a + 1),
        ("segments", lambda a: a.astype(float)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(result, tmp_path, name, change):
    result.save(tmp_path)
    with np.load(tmp_path / "result.npz") as stored:
        arrays = {key: stored[key] for key in stored.files}
    np.savez(tmp_path / "result.npz", **{**arrays, name: change(arrays.get(name))})
    with pytest.raises(FileError, match="its parts do not fit"):
        Result.load(tmp_path)


def test_json_knows_neither_nan_nor_infinity():
    text = json_text({"a": float("inf"), "b": [float("nan"), 1.5], "c": {"d": 2}})
    assert json.loads(text) == {"a": None, "b": [None, 1.5], "c": {"d": 2}}


def test_json_has_no_nan_however_deep():
    from slanted.output.result_data import json_text

    assert json.loads(json_text({"a": (float("nan"), [float("inf"), (1.5,)])})) == {
        "a": [None, [None, [1.5]]]
    }
