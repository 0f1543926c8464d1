"""Confidence, deviation and flags of pixels: rounded, written, read back and applied."""

import dataclasses
import io

import cv2
import numpy as np
import pytest
import trimesh
from click.testing import CliRunner

import slanted
from slanted import PixelFlag, Result
from slanted.cli import slanted as command
from slanted.errors import FileError, InputError
from slanted.io import Calibration, read_disparity, read_image
from slanted.io.info import describe
from slanted.output import pixel_maps
from slanted.output.export import Exportable, export
from slanted.output.folder import whole_folder, write_result
from slanted.output.mesh import mesh_of
from slanted.synthetic import make_scene

SCENE = make_scene(96, 64, segments=40, seed=1)
CAMERAS = Calibration(140.0, 150.0, 48.0, 31.0, 0.5, 2.0)
FLAG_FILES = {"valid.png", "occluded.png", "matched.pfm"}
OWN_FILES = {"confidence.npy", "confidence.png", "deviation.npy"}


@pytest.fixture(scope="module")
def plain():
    """A result as of a run without a model of confidence."""
    # On a finer grid, a few pixels would be too far for the files of depth.
    settings = slanted.Settings().with_text({"matching.census.finer": "1"})
    result = slanted.estimate(SCENE.left, SCENE.right, settings)
    return dataclasses.replace(result, confidence=None, deviation=None)


@pytest.fixture(scope="module")
def result(plain):
    rng = np.random.default_rng(0)
    confidence = rng.random(plain.disparity.shape).astype(np.float32)
    deviation = rng.exponential(0.7, plain.disparity.shape).astype(np.float32)
    sky = np.zeros(plain.disparity.shape, bool)
    sky[:5, :7] = True
    return dataclasses.replace(plain, confidence=confidence, deviation=deviation, sky=sky)


def with_least(result, least):
    settings = result.settings.with_text({"confidence.min": str(least)})
    return dataclasses.replace(result, settings=settings)


def naive_flags(result):
    height, width = result.disparity.shape
    flags = np.zeros((height, width), np.uint8)
    for y in range(height):
        for x in range(width):
            bits = PixelFlag.FILLED if np.isnan(result.matched[y, x]) else PixelFlag.MATCHED
            place = round(x - float(result.disparity[y, x]))
            if not 0 <= place < width:
                bits |= PixelFlag.OUT_OF_VIEW
            elif result.occluded[y, x]:
                bits |= PixelFlag.OCCLUDED
            if result.sky is not None and result.sky[y, x]:
                bits |= PixelFlag.SKY
            if result.confidence is not None and result.confidence[y, x] < 0.5:
                bits |= PixelFlag.LOW_CONFIDENCE
            flags[y, x] = bits
    return flags


def test_flags_equal_their_definition(plain, result, monkeypatch):
    np.testing.assert_array_equal(result.valid, naive_flags(result))
    np.testing.assert_array_equal(plain.valid, naive_flags(plain))
    for flag in PixelFlag:
        assert (result.valid & flag).any(), flag
    assert not (plain.valid & PixelFlag.LOW_CONFIDENCE).any()
    whole = result.valid
    monkeypatch.setattr(pixel_maps, "PIXELS_AT_A_TIME", 500)
    np.testing.assert_array_equal(result.valid, whole)


def test_what_the_right_view_does_not_show_is_occluded_or_out_of_view(result):
    unseen = (result.valid & (PixelFlag.OCCLUDED | PixelFlag.OUT_OF_VIEW)) > 0
    np.testing.assert_array_equal(unseen, result.occluded)


def test_the_setting_decides_what_is_low(result):
    settings = result.settings.with_text({"confidence.low": "0.9"})
    flags = dataclasses.replace(result, settings=settings).valid
    is_low = (flags & PixelFlag.LOW_CONFIDENCE) > 0
    np.testing.assert_array_equal(is_low, result.confidence < 0.9)


def test_files_hold_what_a_result_reads_back(result, tmp_path):
    result.save(tmp_path, SCENE.left)
    again = Result.load(tmp_path)
    for name in ("confidence", "deviation"):
        stored = np.load(tmp_path / f"{name}.npy")
        assert stored.dtype == np.float32
        np.testing.assert_array_equal(getattr(again, name), stored)
        np.testing.assert_array_equal(getattr(result, name), stored)
    np.testing.assert_array_equal(again.sky, result.sky)
    assert again.summary() == result.summary()
    picture = cv2.imread(str(tmp_path / "confidence.png"), cv2.IMREAD_UNCHANGED)
    assert picture.dtype == np.uint16
    np.testing.assert_array_equal(picture / np.float32(65535), result.confidence)
    np.testing.assert_array_equal(read_image(tmp_path / "valid.png"), result.valid)
    occluded = read_image(tmp_path / "occluded.png")
    np.testing.assert_array_equal(occluded, np.where(result.occluded, 255, 0))
    np.testing.assert_array_equal(read_disparity(tmp_path / "matched.pfm"), result.matched)


def test_a_result_without_confidence_has_flags_but_no_such_files(result, plain, tmp_path):
    result.save(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} > FLAG_FILES | OWN_FILES
    plain.save(tmp_path)  # and removes those of the earlier result
    names = {file.name for file in tmp_path.iterdir()}
    assert names > FLAG_FILES
    assert not names & OWN_FILES
    again = Result.load(tmp_path)
    assert again.confidence is None
    assert again.deviation is None
    np.testing.assert_array_equal(again.margins, plain.margins)
    assert "confidence_median" not in again.summary()


def test_rounding_is_small_and_happens_once(result):
    values = np.linspace(0, 1, 64 * 96, dtype=np.float32).reshape(64, 96)
    once = dataclasses.replace(result, confidence=values, deviation=values * 100)
    assert np.abs(once.confidence - values).max() <= 0.5 / 65535 + 1e-7
    assert {0, 1} <= set(once.confidence[[0, -1], [0, -1]])
    np.testing.assert_allclose(once.deviation, values * 100, rtol=2**-11, atol=1e-7)
    twice = dataclasses.replace(once)
    np.testing.assert_array_equal(twice.confidence, once.confidence)
    np.testing.assert_array_equal(twice.deviation, once.deviation)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("confidence", np.full((64, 96), 1.1), "expected numbers from 0 to 1, got 1.1"),
        ("confidence", np.full((64, 96), np.nan), "expected numbers from 0 to 1"),
        ("confidence", np.zeros((64, 95)), "expected a map of the disparity's size"),
        ("deviation", np.full((64, 96), -0.1), "expected numbers from 0 up"),
    ],
)
def test_maps_that_mean_nothing_are_refused(result, name, values, message):
    with pytest.raises(InputError, match=f"{name}: {message}"):
        dataclasses.replace(result, **{name: values})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("confidence", lambda a: a[1:]),
        ("confidence", lambda a: a.astype(np.float32)),
        ("confidence", lambda a: (a >> 8).astype(np.uint8)),
        ("deviation", lambda a: a * np.float16(np.nan)),
        ("deviation", lambda a: -a - 1),
        ("sky", lambda a: a.astype(np.uint8)),
    ],
)
def test_stored_maps_that_do_not_fit_are_refused(result, tmp_path, name, change):
    result.save(tmp_path)
    with np.load(tmp_path / "result.npz") as stored:
        arrays = {key: stored[key] for key in stored.files}
    np.savez(tmp_path / "result.npz", **{**arrays, name: change(arrays[name])})
    with pytest.raises((FileError, InputError)):
        Result.load(tmp_path)


def test_results_of_early_versions_called_margins_confidence(plain, tmp_path):
    plain.save(tmp_path)
    with np.load(tmp_path / "result.npz") as stored:
        arrays = {key: stored[key] for key in stored.files}
    arrays["confidence"] = arrays.pop("margins")
    del arrays["sky"]
    np.savez(tmp_path / "result.npz", **arrays)
    again = Result.load(tmp_path)
    np.testing.assert_array_equal(again.margins, plain.margins)
    assert again.confidence is None
    assert again.sky is None


def test_below_the_threshold_there_is_no_disparity(result, plain):
    np.testing.assert_array_equal(
        result.trusted_disparity(0.7),
        np.where(result.confidence < 0.7, np.nan, result.disparity),
    )
    assert result.trusted_disparity() is result.disparity
    assert with_least(result, 0.7).trusted_disparity(0) is result.disparity
    assert np.isnan(with_least(result, 1).trusted_disparity()).mean() > 0.99
    assert plain.trusted_disparity() is plain.disparity
    with pytest.raises(InputError, match="expected a result with a confidence"):
        plain.trusted_disparity(0.1)
    for wrong in (-0.1, 1.1, np.nan):
        with pytest.raises(InputError, match="expected a number from 0 to 1"):
            result.trusted_disparity(wrong)


def test_files_leave_out_what_is_below_the_threshold(result, tmp_path):
    kept = result.confidence >= 0.6
    with whole_folder(tmp_path) as folder:
        write_result(folder, with_least(result, 0.6), SCENE.left, CAMERAS)
    for suffix in (".pfm", ".npy", ".png"):
        found = read_disparity(tmp_path / f"disparity{suffix}")
        np.testing.assert_array_equal(np.isfinite(found), kept)
        filled = read_disparity(tmp_path / f"disparity_filled{suffix}")
        np.testing.assert_allclose(filled, result.disparity, atol=1 / 256)
    raw = cv2.imread(str(tmp_path / "disparity.png"), cv2.IMREAD_UNCHANGED)
    assert (raw[~kept] == 0).all()
    depth, solid = np.load(tmp_path / "depth.npy"), kept & ~result.sky
    np.testing.assert_array_equal(np.isfinite(depth), solid)
    np.testing.assert_array_equal(np.isposinf(depth), result.sky)
    np.testing.assert_array_equal(np.isnan(depth), ~kept & ~result.sky)
    assert len(trimesh.load(tmp_path / "cloud.ply").vertices) == solid.sum()
    again = Result.load(tmp_path)
    np.testing.assert_array_equal(again.disparity, result.disparity)
    assert again.summary()["dropped_percent"] == pytest.approx(100 * (~kept).mean())
    result.save(tmp_path)
    assert not list(tmp_path.glob("disparity_filled*"))


def test_a_threshold_above_every_pixel_leaves_empty_maps(result, tmp_path):
    none = dataclasses.replace(result, confidence=np.full_like(result.confidence, 0.2))
    with_least(none, 0.9).save(tmp_path)
    assert np.isnan(np.load(tmp_path / "disparity.npy")).all()
    assert (cv2.imread(str(tmp_path / "disparity.png"), cv2.IMREAD_UNCHANGED) == 0).all()
    with pytest.raises(InputError, match=r"confidence of at least 0\.9 that .* got none"):
        export("mesh.ply", Exportable(none, SCENE.left, CAMERAS, 0.9))


def test_exports_leave_out_what_is_below_the_threshold(result):
    kept = (result.confidence >= 0.4) & ~result.sky
    source = Exportable(result, SCENE.left, CAMERAS, 0.4)
    cloud = trimesh.load(io.BytesIO(export("cloud.ply", source)["cloud.ply"]), file_type="ply")
    assert len(cloud.vertices) == kept.sum()
    depth = np.frombuffer(export("depth.png", source)["depth.png"], np.uint8)
    np.testing.assert_array_equal(cv2.imdecode(depth, cv2.IMREAD_UNCHANGED) > 0, kept)
    again = Exportable(with_least(result, 0.4), SCENE.left, CAMERAS)
    np.testing.assert_array_equal(again.mesh().corners, source.mesh().corners)


@pytest.mark.parametrize("step", [1, 3])
def test_a_mesh_covers_the_pixels_above_the_threshold_and_no_others(result, step):
    blocks = np.kron(np.random.default_rng(1).random((8, 12)), np.ones((8, 8)))
    smooth = dataclasses.replace(result, confidence=blocks, sky=None)
    whole, mesh = mesh_of(smooth, step=step), mesh_of(smooth, step=step, min_confidence=0.5)
    assert mesh.segment.max() < result.regions.count
    assert set(np.unique(mesh.faces)) == set(range(len(mesh.corners)))
    if step > 1:
        assert 0.2 < area(mesh) / area(whole) < 0.8
        return
    assert area(mesh) == pytest.approx(
        (smooth.confidence >= 0.5).sum(), rel=0.01
    )  # smooth outlines
    centres = mesh.corners[mesh.faces].mean(axis=1)
    u, v = np.rint(centres).astype(int).T
    assert (smooth.confidence[v, u] >= 0.5).all()
    shown = {tuple(place) for place in np.column_stack([whole.corners, whole.disparity]).tolist()}
    again = mesh_of(smooth, step=step, min_confidence=0.0)
    assert {tuple(place) for place in np.column_stack([again.corners, again.disparity]).tolist()} \
        == shown  # fmt: skip


def test_the_sky_keeps_its_disparity_and_has_no_place_in_space(result, plain, tmp_path):
    sky = result.sky
    with whole_folder(tmp_path) as folder:
        write_result(folder, result, SCENE.left, CAMERAS)
    np.testing.assert_array_equal(np.load(tmp_path / "disparity.npy"), result.disparity)
    depth = np.load(tmp_path / "depth.npy")
    np.testing.assert_array_equal(depth, np.where(sky, np.inf, CAMERAS.depth(result.disparity)))
    assert len(trimesh.load(tmp_path / "cloud.ply").vertices) == (~sky).sum()
    source = Exportable(result, SCENE.left, CAMERAS)
    cloud = trimesh.load(io.BytesIO(export("cloud.ply", source)["cloud.ply"]), file_type="ply")
    assert len(cloud.vertices) == (~sky).sum()
    image = np.frombuffer(export("depth.png", source)["depth.png"], np.uint8)
    np.testing.assert_array_equal(cv2.imdecode(image, cv2.IMREAD_UNCHANGED) == 0, sky)
    centres = (mesh := mesh_of(result)).corners[mesh.faces].mean(axis=1)
    u, v = np.rint(centres).astype(int).T
    assert not sky[v, u].any()
    assert area(mesh) == pytest.approx((~sky).sum(), rel=0.01)
    np.testing.assert_array_equal(result.solid_disparity(),
                                  np.where(sky, np.nan, result.disparity))  # fmt: skip
    np.testing.assert_array_equal(np.isnan(result.solid_disparity(0.7)),
                                  sky | (result.confidence < 0.7))  # fmt: skip
    for none in (None, np.zeros_like(sky)):
        without = dataclasses.replace(plain, sky=none)
        assert without.solid_disparity() is plain.disparity
        assert area(mesh_of(without)) == pytest.approx(sky.size)


def test_a_picture_of_nothing_but_sky_has_no_mesh(plain):
    all_sky = dataclasses.replace(plain, sky=np.ones(plain.disparity.shape, bool))
    with pytest.raises(InputError, match=r"not sky, got none; .* model\.sky=false"):
        export("mesh.ply", Exportable(all_sky, SCENE.left, CAMERAS))
    cloud = export("cloud.ply", Exportable(all_sky, SCENE.left, CAMERAS))["cloud.ply"]
    assert b"element vertex 0" in cloud


def area(mesh):
    a, b, c = np.moveaxis(mesh.corners[mesh.faces], 1, 0)
    (x, y), (u, v) = (b - a).T, (c - a).T
    return np.abs(x * v - y * u).sum() / 2


def test_the_command_line_takes_the_threshold(result, tmp_path):
    result.save(tmp_path / "out", SCENE.left)
    arguments = ["cloud.ply", "--min-confidence", "0.8"]
    CliRunner().invoke(command, ["export", str(tmp_path / "out"), *arguments])
    cloud = trimesh.load(tmp_path / "out" / "cloud.ply")
    assert len(cloud.vertices) == ((result.confidence >= 0.8) & ~result.sky).sum()
    shown = CliRunner().invoke(command, ["settings", "--min-confidence", "0.25"])
    assert "min = 0.25" in shown.output


def test_info_says_how_sure_a_result_is(result, tmp_path):
    result.save(tmp_path)
    said = describe(tmp_path)
    assert said["confidence_median"] == pytest.approx(np.median(result.confidence))
    low = 100 * (result.confidence < 0.5).mean()
    assert said["low_confidence_percent"] == pytest.approx(low)
