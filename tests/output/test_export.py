"""Exports open in other programs and hold what they say."""

import dataclasses
import io
import json
import sys

import cv2
import numpy as np
import pytest
import trimesh

import slanted
from output.on_planes import distances_to_planes
from slanted.cli import main
from slanted.errors import FileError, InputError
from slanted.io import Calibration, write_disparity
from slanted.output.export import Exportable, depth_image, export, export_names
from slanted.output.mesh import TOLERANCE
from slanted.output.space import AUTO_DISPARITY, LEAST_DISPARITY
from slanted.result import Result
from slanted.result_folder import open_result
from slanted.runtime.extras import how_to_install
from slanted.synthetic import make_scene

SCENE = make_scene(160, 120, seed=3)
CAMERAS = Calibration(140.0, 150.0, 80.0, 61.0, 0.5, 2.0)


@pytest.fixture(scope="module")
def result():
    settings = slanted.Settings().with_text({"segmentation.count": "60", "seed": "4"})
    return slanted.estimate(SCENE.left, SCENE.right, settings)


@pytest.fixture(scope="module")
def source(result):
    return Exportable(result, SCENE.left, CAMERAS)


def load(name, files, **options):
    resolver = trimesh.resolvers.ZipResolver({k: io.BytesIO(v) for k, v in files.items()})
    kind = name.rpartition(".")[2]
    return trimesh.load(io.BytesIO(files[name]), file_type=kind, resolver=resolver, **options)


@pytest.mark.parametrize("name", ["mesh.ply", "mesh.glb", "mesh.obj"])
def test_meshes_open_in_trimesh_with_vertices_on_planes(result, source, name):
    mesh = load(name, export(name, source), force="mesh", process=False)
    expected = source.mesh()
    axes = (1, -1, -1) if name == "mesh.glb" else (1, 1, 1)
    np.testing.assert_allclose(mesh.vertices * axes, expected.positions(CAMERAS), rtol=1e-5)
    np.testing.assert_array_equal(mesh.faces, expected.faces)
    off = distances_to_planes(result, np.asarray(mesh.vertices) * axes, mesh.faces, CAMERAS)
    assert off.max() <= TOLERANCE
    assert np.median(off) < 0.05
    towards_camera = (mesh.face_normals * axes)[:, 2] < 0
    assert towards_camera.mean() > 0.99


@pytest.mark.parametrize("name", ["mesh.glb", "mesh.obj"])
def test_textures_show_the_left_image_in_its_place(source, name):
    mesh = load(name, export(name, source), force="mesh", process=False)
    material = mesh.visual.material
    texture = material.baseColorTexture if name == "mesh.glb" else material.image
    pixels = np.asarray(texture.convert("RGB"))
    assert np.abs(pixels.astype(int) - SCENE.left).mean() < 6  # JPEG in GLB
    across, up = mesh.visual.uv.T
    corners = source.mesh().corners + 0.5
    np.testing.assert_allclose(across * 160, corners[:, 0], atol=1e-3)
    np.testing.assert_allclose((1 - up) * 120, corners[:, 1], atol=1e-3)


def test_cloud_and_vertex_colours(source):
    cloud = load("cloud.ply", export("cloud.ply", source))
    assert len(cloud.vertices) == 160 * 120
    np.testing.assert_array_equal(cloud.colors[:, :3], SCENE.left.reshape(-1, 3))
    mesh = load("mesh.ply", export("mesh.ply", source), process=False)
    assert len(np.unique(mesh.visual.vertex_colors, axis=0)) > 50
    grey = load("cloud.ply", export("cloud.ply", Exportable(source.result)))
    assert (grey.colors[:, :3] == 128).all()


def test_depth_is_in_millimetres_and_zero_where_unknown(source):
    picture = cv2.imdecode(
        np.frombuffer(export("depth.png", source)["depth.png"], np.uint8), cv2.IMREAD_UNCHANGED
    )
    assert picture.dtype == np.uint16
    expected = CAMERAS.depth(source.result.disparity) * 1000
    np.testing.assert_allclose(picture, expected, atol=0.51)
    values = np.array([[np.nan, 1.2344, 65.535, 65.6, 0.0004]], np.float32)
    assert depth_image(values).tolist() == [[0, 1234, 65535, 0, 0]]


def test_all_exports_end_at_the_same_distance(result):
    doffs = LEAST_DISPARITY - float(np.median(result.disparity))
    cameras = dataclasses.replace(CAMERAS, doffs_pixels=doffs, baseline_meters=0.01)
    source = Exportable(result, SCENE.left, cameras, max_depth=1e6)
    kept = result.disparity.astype(np.float64) + doffs >= LEAST_DISPARITY
    assert 0.2 < kept.mean() < 0.8
    assert len(load("cloud.ply", export("cloud.ply", source)).vertices) == kept.sum()
    files = export("depth.png", source)
    picture = cv2.imdecode(np.frombuffer(files["depth.png"], np.uint8), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(picture > 0, kept)
    farthest = cameras.fx_pixels * cameras.baseline_meters / LEAST_DISPARITY
    assert source.mesh().positions(cameras)[:, 2].max() <= farthest * 1.001


def test_clouds_and_meshes_end_where_they_are_told_and_depth_does_not(result):
    at_20 = CAMERAS.fx_pixels * CAMERAS.baseline_meters / 20.0
    for given, least in ((2.0, 35.0), (None, AUTO_DISPARITY), (1e9, LEAST_DISPARITY)):
        shifted = dataclasses.replace(CAMERAS, doffs_pixels=-8.0)
        source = Exportable(result, SCENE.left, shifted, max_depth=given)
        kept = result.disparity.astype(np.float64) - 8 >= least
        assert len(source.cloud().positions) == kept.sum()
        places = source.mesh().positions(shifted)
        assert places[:, 2].max() <= 70 / least * (1 + 1e-5)
        image = np.frombuffer(export("depth.png", source)["depth.png"], np.uint8)
        near = shifted.depth(result.disparity, LEAST_DISPARITY) < 65
        assert (cv2.imdecode(image, cv2.IMREAD_UNCHANGED) > 0)[near].all()
    told = dataclasses.replace(result, settings=result.settings.updated({"space.max_depth": 20.0}))
    assert Exportable(told, None, CAMERAS).space.least == pytest.approx(at_20)
    assert Exportable(told, None, CAMERAS, max_depth=10.0).space.least == pytest.approx(2 * at_20)
    assert Exportable(result).space.least == LEAST_DISPARITY  # nothing is known about the cameras
    points = result.calibrated(CAMERAS).points(max_depth=2.0).positions
    assert points[:, 2].max() <= 2.0001
    assert result.calibrated(CAMERAS).mesh(max_depth=2.0).vertices[:, 2].max() <= 2.0001
    with pytest.raises(InputError, match="max_depth: expected a depth above 0, got 0"):
        result.points(max_depth=0)
    with pytest.raises(InputError, match="near enough, got none; give a larger max_depth"):
        result.calibrated(CAMERAS).mesh(max_depth=0.1)
    # With so long a focal length, what is not level is seen edge-on.
    steep = dataclasses.replace(CAMERAS, fx_pixels=1e9, fy_pixels=1e9)
    tilted = dataclasses.replace(result.inference, planes=result.planes + np.eye(3)[0])
    leaning = dataclasses.replace(result, inference=tilted)
    with pytest.raises(InputError, match="not seen edge-on, got none; check the calibration"):
        Exportable(leaning, SCENE.left, steep).mesh()


def test_normals_face_the_camera_from_both_sides(source):
    mesh, files = source.mesh(), export("mesh.glb", source)
    opened = load("mesh.glb", files, force="mesh", process=False)
    assert opened.visual.material.doubleSided
    rays = mesh.positions(CAMERAS)
    rays = rays / np.linalg.norm(rays, axis=1, keepdims=True)
    normals = mesh.normals(CAMERAS)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-5)
    assert ((normals * rays).sum(axis=1) < 0).mean() > 0.999
    flat = trimesh.Trimesh(mesh.positions(CAMERAS), mesh.faces, process=False).face_normals
    assert np.median(np.abs((normals[mesh.faces[:, 0]] * flat).sum(axis=1))) > 0.9
    (stored,) = load("mesh.glb", files, process=False).geometry.values()
    np.testing.assert_allclose(stored.vertex_normals * (1, -1, -1), normals, atol=1e-4)


def test_without_calibration_lengths_are_baselines(result):
    source = Exportable(result, SCENE.left)
    assert source.unit == "baselines"
    assert "depth.png" not in export_names(calibrated=False)
    with pytest.raises(InputError, match=r"depth\.png: expected a calibrated pair"):
        export("depth.png", source)
    mesh = load("mesh.ply", export("mesh.ply", source), process=False)
    z = np.asarray(mesh.vertices)[:, 2]
    np.testing.assert_allclose(160 / z, source.mesh().disparity, rtol=1e-5)
    with pytest.raises(InputError, match=r"x\.stl: cannot be exported; expected one of cloud"):
        export("x.stl", source)


def test_what_lies_behind_infinity_has_no_mesh(result):
    beyond = dataclasses.replace(CAMERAS, doffs_pixels=-1000.0)
    for name in ("mesh.ply", "mesh.glb", "mesh.obj"):
        with pytest.raises(InputError, match="expected disparities above that of infinity"):
            export(name, Exportable(result, SCENE.left, beyond))


def test_a_folder_holds_all_that_exports_need(result, tmp_path):
    from slanted.output.folder import whole_folder, write_result

    with whole_folder(tmp_path / "out") as folder:
        write_result(folder, result, SCENE.left, CAMERAS, {"left": "gone.png"}, SCENE.right)
    opened = open_result(tmp_path / "out")
    assert opened.calibration == CAMERAS
    np.testing.assert_array_equal(opened.left, SCENE.left)
    np.testing.assert_array_equal(opened.right, SCENE.right)
    assert opened.name == "out"
    assert opened.truth is None
    write_disparity(tmp_path / "out" / "ground_truth.pfm", SCENE.disparity)
    np.testing.assert_array_equal(open_result(tmp_path / "out").truth, SCENE.disparity)
    write_disparity(tmp_path / "out" / "ground_truth.pfm", SCENE.disparity[1:])
    with pytest.raises(
        FileError, match="expected the size of the left image, 160×120 pixels, got 160×119"
    ):
        open_result(tmp_path / "out")
    (tmp_path / "out" / "ground_truth.pfm").unlink()

    record = tmp_path / "out" / "run.json"
    huge = dataclasses.asdict(CAMERAS) | {"fx_pixels": 10**400}
    for calibration in ({"fx_pixels": -1}, huge):
        changed = json.loads(record.read_text()) | {"calibration": calibration}
        record.write_text(json.dumps(changed))
        with pytest.raises(FileError, match="expected the calibration of a run"):
            open_result(tmp_path / "out")
    with pytest.raises(FileError, match="expected the folder of a result"):
        open_result(tmp_path)


def test_files_that_a_record_names_are_not_opened(result, tmp_path, monkeypatch):
    """They may be others by now, and somebody else's record may name anything."""
    dataclasses.replace(result, left=None, right=None).save(tmp_path / "out")
    cv2.imwrite(str(tmp_path / "l.png"), SCENE.left[:, :, ::-1])
    (tmp_path / "damaged.png").write_bytes(b"no image")
    monkeypatch.chdir(tmp_path)
    record = tmp_path / "out" / "run.json"
    for left in (str(tmp_path / "l.png"), "l.png", "damaged.png"):
        inputs = {"inputs": {"left": left, "right": left}}
        record.write_text(json.dumps(json.loads(record.read_text()) | inputs))
        opened = open_result(tmp_path / "out")
        assert opened.left is None
        assert opened.right is None
    assert opened.calibration is None


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(list(map(str, arguments)))
    return exited.value.code


def test_the_command_writes_beside_the_result(result, tmp_path, capsys):
    result.save(tmp_path, SCENE.left)
    assert not run("export", tmp_path, "--json", "--quiet")
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["unit"] == "baselines"
    assert {"cloud.ply", "mesh.glb", "mesh.mtl", "mesh_texture.png"} <= set(outcome["files"])
    assert all((tmp_path / name).is_file() for name in outcome["files"])
    Result.load(tmp_path)  # nothing of it was touched
    assert not run(
        "export", tmp_path, "depth.png", "--fx", 100, "--baseline", 0.2, "-o", tmp_path / "d"
    )
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["depth.png"]
    result.save(tmp_path, SCENE.left)
    assert not (tmp_path / "mesh.glb").exists()  # of an earlier result


def test_the_command_refuses_in_one_sentence(tmp_path, capsys, result):
    assert run("export", tmp_path) == 2
    assert "expected the folder of a result" in capsys.readouterr().err
    result.save(tmp_path)
    assert run("export", tmp_path, "depth.png", "-o", tmp_path / "new") == 2
    assert not (tmp_path / "new").exists()


def hide(monkeypatch, module):
    """Let a package be missing."""
    for loaded in list(sys.modules):
        if loaded.startswith(f"{module}."):
            monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (m, n)
        for m in ("trimesh", "PIL")
        for n in ("mesh.ply", "mesh.glb", "mesh.obj")
        if (m, n) != ("PIL", "mesh.ply")
    ],
)
def test_what_is_missing_is_named_with_its_cure(
    tmp_path, capsys, monkeypatch, result, module, name
):
    result.save(tmp_path)
    hide(monkeypatch, module)
    assert run("export", tmp_path, name, "--quiet") == 2
    error = capsys.readouterr().err
    package = {"PIL": "pillow"}.get(module, module)
    assert f"need {package}, which is not installed; {how_to_install('viewer')}" in error
    assert f"error: {name}: " in error
    assert "; nothing was written" in error


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(
    ("module", "left_out"),
    [("trimesh", ["mesh.ply", "mesh.glb", "mesh.obj"]), ("PIL", ["mesh.glb", "mesh.obj"])],
)
def test_what_needs_no_extra_is_written_without_it(
    result, tmp_path, monkeypatch, capsys, module, left_out
):
    result.save(tmp_path)
    hide(monkeypatch, module)
    cameras = ("--fx", "140", "--baseline", "0.5")
    assert run("export", tmp_path, "-o", tmp_path / "out", *cameras, "--quiet", "--json") is None
    out, err = capsys.readouterr()
    assert err.startswith(f"slanted: warning: {', '.join(left_out)}: left out; ")
    assert f"not installed; {how_to_install('viewer')}" in err
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"cloud.ply", "depth.png", "mesh.ply"} - set(left_out)
    assert json.loads(out)["left_out"] == left_out
