"""Every recipe runs with the library that it is about, which reads what it wrote."""

import os
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import slanted

FOLDER = Path(__file__).parents[2] / "examples" / "recipes"
RECIPES = sorted(file.stem for file in FOLDER.glob("*.py") if file.stem != "pair")


@pytest.fixture
def run(tmp_path):
    """Run a recipe in a process of its own, since these libraries warn; skip it without them."""

    def python(*arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    def run(name, module=None):
        if module is not None:
            if find_spec(module) is None:
                pytest.skip(f"{module} is not installed, so its recipe was not run")
            loaded = python("-c", f"import {module}")
            if loaded.returncode:  # such as Open3D without a library of the system
                why = loaded.stderr.strip().splitlines()[-1]
                pytest.skip(f"{module} fails to load here ({why}), so its recipe was not run")
        done = python(FOLDER / f"{name}.py")
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.python = python
    return run


def test_all_are_tested_and_listed():
    tested = Path(__file__).read_text("utf-8")
    page = (FOLDER.parents[1] / "docs" / "recipes.md").read_text("utf-8")
    assert len(RECIPES) == 5
    for name in RECIPES:
        assert f'run("{name}"' in tested
        assert f"[{name}.py](../examples/recipes/{name}.py)" in page


def test_rerun(run, tmp_path):
    assert "4 frames are in slanted.rrd" in run("rerun_stream", "rerun")
    checked = run.python("-m", "rerun", "rrd", "verify", "slanted.rrd")
    assert checked.returncode == 0, checked.stderr
    told = run.python("-m", "rerun", "rrd", "stats", "slanted.rrd").stdout
    names = ("camera", "camera/left", "camera/depth", "disparity", "confidence", "points", "mesh")
    for name in names:  # chunks: Rerun puts frames that come quickly into one
        assert re.search(rf"^/stereo/{name}: [1-4]$", told, re.MULTILINE), name


def test_open3d(run, tmp_path):
    plyfile = pytest.importorskip("plyfile")
    said = run("open3d_mesh", "open3d")
    points = plyfile.PlyData.read(tmp_path / "coarse.ply")["vertex"]
    assert f"{len(points)} in coarse.ply" in said
    assert {"x", "y", "z", "nx", "red"} <= {each.name for each in points.properties}
    normals = slanted.read_image(tmp_path / "normals.png").astype(float) / 127.5 - 1
    hit = np.abs(np.linalg.norm(normals, axis=2) - 1) < 0.02
    assert hit.mean() > 0.9


def test_pyvista(run, tmp_path):
    assert "triangles; see mesh.png" in run("pyvista_mesh", "pyvista")
    picture = slanted.read_image(tmp_path / "mesh.png")
    assert picture.shape == (600, 800, 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 1000  # not a blank window


def test_trimesh(run, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    said = run("trimesh_mesh")
    largest = trimesh.load(tmp_path / "largest.glb", force="mesh")
    assert f"{len(largest.faces)} triangles" in said.splitlines()[0]


def test_colmap_depth_maps(run, tmp_path):
    said = run("colmap_depth_maps")
    file = tmp_path / "dense" / "stereo" / "depth_maps" / "left.png.geometric.bin"
    depth = naive_read(file)
    assert depth.shape == (240, 320)
    assert f"{depth.max():.1f} m away" in said
    assert (depth >= 0).all()


def naive_read(path):
    """Read a map as COLMAP defines it: x runs fastest, then y, then the channel."""
    data = path.read_bytes()
    end = [place for place, byte in enumerate(data) if byte == ord("&")][2]
    width, height, channels = map(int, data[:end].split(b"&"))
    floats = np.frombuffer(data[end + 1 :], "<f4")
    values = np.empty((height, width, channels), np.float32)
    for number, value in enumerate(floats):
        rest, x = divmod(number, width)
        channel, y = divmod(rest, height)
        values[y, x, channel] = value
    return values[..., 0] if channels == 1 else values


@pytest.fixture(scope="module")
def colmap():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))  # for the import of `pair`
        names = runpy.run_path(str(FOLDER / "colmap_depth_maps.py"))
    sys.modules.pop("pair", None)
    return names


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**16))
def test_colmap_maps_are_those_of_the_naive_twin(
    colmap, tmp_path_factory, height, width, channels, seed
):
    values = np.random.default_rng(seed).random((height, width, channels), np.float32)
    values = values[..., 0] if channels == 1 else values
    path = tmp_path_factory.mktemp("colmap") / "map.bin"
    colmap["write_map"](path, values)
    np.testing.assert_array_equal(naive_read(path), values)
    np.testing.assert_array_equal(colmap["read_map"](path), values)
