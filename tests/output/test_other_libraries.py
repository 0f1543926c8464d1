"""What Open3D and Rerun are given, seen by stand-ins that only note it."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import slanted
from slanted.errors import InputError, MissingExtraError
from slanted.io import encode_ply
from slanted.output.export import Exportable, export
from slanted.synthetic import make_scene

SCENE = make_scene(96, 64, segments=40, seed=1)
CAMERAS = slanted.Calibration(100.0, 100.0, 47.5, 31.5, baseline_meters=0.1)


@pytest.fixture(scope="module")
def result():
    return slanted.estimate(SCENE.left, SCENE.right, calibration=CAMERAS, preset="fast")


@pytest.fixture
def open3d(monkeypatch):
    stub = SimpleNamespace(
        utility=SimpleNamespace(Vector3dVector=np.array, Vector3iVector=np.array),
        geometry=SimpleNamespace(PointCloud=SimpleNamespace, TriangleMesh=SimpleNamespace),
    )
    monkeypatch.setitem(sys.modules, "open3d", stub)


@pytest.fixture
def logged(monkeypatch):
    """What Rerun is told to log, by path."""
    seen = {}

    def log(path, what, static=False, recording=None):
        seen[path] = what, recording

    def noted(*values, **named):
        return SimpleNamespace(values=values, **named)

    kinds = ("Pinhole", "Image", "DepthImage", "Points3D", "Mesh3D")
    stub = SimpleNamespace(
        log=log, ViewCoordinates=SimpleNamespace(RDF="RDF"), **dict.fromkeys(kinds, noted)
    )
    monkeypatch.setitem(sys.modules, "rerun", stub)
    return seen


def test_points_and_mesh_are_those_of_the_exports(result):
    positions, colours = result.points()
    source = Exportable(result, SCENE.left, CAMERAS)
    assert encode_ply(positions, colours) == export("cloud.ply", source)["cloud.ply"]
    vertices, faces, shades = result.mesh()
    np.testing.assert_array_equal(vertices, source.mesh().positions(CAMERAS))
    assert faces.shape[1] == 3
    assert len(shades) == len(vertices)


def test_points_lie_at_the_depth_of_their_pixels(result):
    depth, positions = result.depth(), result.points().positions
    known = np.isfinite(depth)
    np.testing.assert_array_equal(positions[:, 2], depth[known])
    np.testing.assert_array_equal(result.points().colours, SCENE.left[known])
    few = result.points(min_confidence=0.9).positions
    assert len(few) == (known & (result.confidence >= 0.9)).sum() < len(positions)
    assert np.isnan(result.depth(min_confidence=0.9)[result.confidence < 0.9]).all()
    assert len(result.mesh(min_confidence=0.9).faces) < len(result.mesh().faces)


def test_without_cameras_lengths_are_in_baselines_and_there_is_no_depth(result):
    bare = replace(result, calibration=None)
    with pytest.raises(InputError, match="depth: expected a calibrated pair"):
        bare.depth()
    assumed = slanted.Calibration(96, 96, 47.5, 31.5, 1.0)
    np.testing.assert_array_equal(
        bare.points().positions, bare.calibrated(assumed).points().positions
    )


def test_calibrated_reads_files_and_checks_the_size(result, tmp_path):
    (tmp_path / "calib.txt").write_text(
        "cam0=[100 0 47.5; 0 100 31.5; 0 0 1]\ndoffs=0\nbaseline=100\n"
    )
    read = replace(result, calibration=None).calibrated(tmp_path / "calib.txt")
    np.testing.assert_array_equal(read.depth(), result.depth())
    with pytest.raises(InputError, match="calibration: expected the calibration of images of 96×"):
        result.calibrated(replace(CAMERAS, image_size=(64, 96)))


def test_open3d_gets_points_and_mesh(result, open3d):
    cloud = result.to_open3d()
    np.testing.assert_array_equal(cloud.points, result.points().positions)
    assert cloud.points.dtype == np.float64
    np.testing.assert_allclose(cloud.colors * 255, result.points().colours)
    mesh = result.to_open3d("mesh")
    np.testing.assert_array_equal(mesh.vertices, result.mesh().vertices)
    np.testing.assert_array_equal(mesh.triangles, result.mesh().faces)
    assert mesh.vertex_colors.max() <= 1
    with pytest.raises(InputError, match="kind: expected 'points' or 'mesh', got 'cloud'"):
        result.to_open3d("cloud")


def test_rerun_gets_everything(result, logged):
    result.to_rerun("stereo", recording="mine")
    assert {recording for _, recording in logged.values()} == {"mine"}
    found = {path: what for path, (what, _) in logged.items()}
    assert found.pop("stereo") == "RDF"
    assert {path.removeprefix("stereo/") for path in found} == {
        *("camera", "camera/left", "camera/depth", "disparity", "confidence", "points", "mesh"),
    }
    assert found["stereo/camera"].focal_length == [100.0, 100.0]
    np.testing.assert_array_equal(found["stereo/camera/left"].values[0], SCENE.left)
    depth = found["stereo/camera/depth"].values[0]
    assert (depth >= 0).all()
    known = np.isfinite(result.depth())
    np.testing.assert_array_equal(depth[known], result.depth()[known])
    np.testing.assert_array_equal(found["stereo/points"].values[0], result.points().positions)
    np.testing.assert_array_equal(found["stereo/mesh"].triangle_indices, result.mesh().faces)


def test_rerun_gets_no_depth_without_cameras(result, logged):
    replace(result, calibration=None, confidence=None).to_rerun()
    assert "slanted/points" in logged
    assert not {"slanted/camera/depth", "slanted/confidence"} & set(logged)


@pytest.mark.parametrize(
    ("module", "method", "package"),
    [("open3d", "to_open3d", "open3d"), ("rerun", "to_rerun", "rerun-sdk")],
)
def test_a_missing_package_is_named_with_its_cure(result, monkeypatch, module, method, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=f"{method} needs .* run pip install {package}$"):
        getattr(result, method)()


def test_a_package_that_fails_to_load_says_why(result, monkeypatch, tmp_path):
    (tmp_path / "open3d.py").write_text("raise ImportError('libusb-1.0.so.0: no such file')")
    monkeypatch.delitem(sys.modules, "open3d", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError, match=r"Open3D, which fails to load \(libusb-1\.0"):
        result.to_open3d()
