"""Other people's programs read our files."""

import io
import json

import cv2
import numpy as np
import pytest
import tifffile
from skimage import measure

from fuzz.targets_results import result_folder
from slanted.batch.records import COLUMNS, row_of, write_summary
from slanted.io import write_disparity, write_ply
from slanted.output.export import Exportable, export
from slanted.result_folder import open_result
from slanted.segmentation.ucm import build_ucm


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("result")
    for name, data in result_folder().items():
        (folder / name).write_bytes(data)
    return open_result(folder)


def a_map():
    disparity = np.arange(63, dtype=np.float32).reshape(7, 9) / 3
    disparity[2, 3:5] = np.nan
    return disparity


def test_opencv_reads_our_pfm_and_tiff(tmp_path):
    disparity = a_map()
    for suffix, unknown in ((".pfm", np.inf), (".tiff", np.nan)):
        write_disparity(tmp_path / f"d{suffix}", disparity)
        read = cv2.imread(str(tmp_path / f"d{suffix}"), cv2.IMREAD_UNCHANGED)
        # OpenCV divides PFM by the header's scale, whose size is 1 in ours.
        np.testing.assert_array_equal(
            np.abs(read), np.where(np.isnan(disparity), unknown, disparity)
        )


def test_tifffile_and_numpy_read_our_maps(tmp_path):
    disparity = a_map()
    write_disparity(tmp_path / "d.tiff", disparity)
    write_disparity(tmp_path / "d.npy", disparity)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "d.tiff"), disparity)
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy", mmap_mode="r"), disparity)


def test_numpy_reads_our_results_without_pickles():
    with np.load(io.BytesIO(result_folder()["result.npz"]), allow_pickle=False) as arrays:
        assert arrays["disparity"].shape == arrays["segments"].shape
        assert len(arrays["planes"]) == arrays["segments"].max() + 1


def test_plyfile_reads_our_clouds_and_meshes(tmp_path, opened):
    plyfile = pytest.importorskip("plyfile")
    points = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
    colours = np.arange(12, dtype=np.uint8).reshape(4, 3)
    write_ply(tmp_path / "cloud.ply", points, colours)
    vertices = plyfile.PlyData.read(tmp_path / "cloud.ply")["vertex"]
    np.testing.assert_array_equal(np.stack([vertices[a] for a in "xyz"], axis=1), points)
    read = np.stack([vertices[c] for c in ("red", "green", "blue")], axis=1)
    np.testing.assert_array_equal(read, colours)
    source = Exportable(opened.result, opened.left, opened.calibration)
    mesh = plyfile.PlyData.read(io.BytesIO(export("mesh.ply", source)["mesh.ply"]))
    faces = np.stack(mesh["face"]["vertex_indices"])
    np.testing.assert_array_equal(faces, source.mesh().faces)
    assert faces.max() < mesh["vertex"].count


def test_pandas_reads_our_summaries(tmp_path):
    pandas = pytest.importorskip("pandas")
    records = [
        {
            "name": "a/1",
            "status": "done",
            "energy": 1.5,
            "left": "l,1.png",
            "seconds": {"total": 2.0},
        },
        {"name": "a/2", "status": "failed", "error": 'no "such" file', "warnings": ["w", "ü"]},
    ]
    write_summary(tmp_path, [row_of(record) for record in records])
    table = pandas.read_csv(tmp_path / "summary.csv")
    lines = pandas.read_json(tmp_path / "summary.jsonl", lines=True)
    assert list(table.columns) == list(lines.columns) == list(COLUMNS)
    for frame in (table, lines):
        assert frame["name"].tolist() == ["a/1", "a/2"]
        assert frame["seconds"][0] == 2.0
        assert frame["left"][0] == "l,1.png"
        assert frame["error"][1] == 'no "such" file'
        assert frame["warnings"][1] == "w; ü"


def test_the_record_is_json_of_the_standard():
    def refuse(word):
        raise AssertionError(word)

    json.loads(result_folder()["run.json"], parse_constant=refuse)


@pytest.mark.parametrize("seed", range(3))
def test_cuts_of_a_row_of_walls_are_scikit_images_components(seed):
    """Where each wall separates two rooms only, a cut leaves the walls that are stronger."""
    rng = np.random.default_rng(seed)
    strength = np.zeros((24, 100), np.float32)
    heights = rng.permutation(np.arange(1, 10)) / 10
    for place, height in zip(range(10, 100, 10), heights, strict=True):
        strength[:, place - 1 : place + 1] = height  # two pixels: the border lies between them
    ucm = build_ucm(strength, np.zeros_like(strength))
    for threshold in (0.15, 0.45, 0.75, 0.95):
        ours = ucm.cut_threshold(threshold)
        rooms = measure.label(strength <= threshold, connectivity=1)
        inside = rooms > 0
        pairs = set(zip(ours[inside].tolist(), rooms[inside].tolist(), strict=True))
        assert len(pairs) == ours.max() + 1 == rooms.max()
