"""Finding frames in tiny trees of each layout, and in the real data where it is at hand."""

import json
import subprocess
import sys

import cv2
import numpy as np
import pytest

from slanted.errors import FileError, InputError
from slanted.evaluation import DATASETS, Frame, evaluate, find_frames
from slanted.evaluation.datasets import read_visible, visible_in_both
from slanted.io import read_disparity

NAN = np.nan


def write_image(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), array)
    return path


def write_pfm(path, rows):
    array = np.asarray(rows, dtype="<f4")
    header = f"Pf\n{array.shape[1]} {array.shape[0]}\n-1.0\n".encode()
    path.write_bytes(header + array[::-1].tobytes())


def grey(width=4, height=2, value=9, dtype=np.uint8):
    return np.full((height, width), value, dtype=dtype)


KITTI_FOLDERS = {
    "kitti2012": ("colored_0", "colored_1", "disp_occ", "disp_noc", "calib"),
    "kitti2015": ("image_2", "image_3", "disp_occ_0", "disp_noc_0", "calib_cam_to_cam"),
}


def make_kitti(root, dataset="kitti2015", names=("000001", "000000", "000007")):
    left, right, occ, noc, calib = KITTI_FOLDERS[dataset]
    training = root / "training"
    truth = np.array([[0, 256, 640, 512]] * 2, dtype=np.uint16)
    visible = np.array([[0, 256, 0, 512]] * 2, dtype=np.uint16)
    for name in names:
        for folder in (left, right):
            for time in ("10", "11"):
                write_image(training / folder / f"{name}_{time}.png", grey())
        write_image(training / occ / f"{name}_10.png", truth)
        write_image(training / noc / f"{name}_10.png", visible)
        (training / calib).mkdir(exist_ok=True)
        (training / calib / f"{name}.txt").write_text("P0: 1\n")
    return root


def names_of(frames):
    return [frame.name for frame in frames]


# KITTI


@pytest.mark.parametrize("dataset", KITTI_FOLDERS)
@pytest.mark.parametrize("below", ["", "training"])
def test_kitti_layout(tmp_path, dataset, below):
    frames = find_frames(dataset, make_kitti(tmp_path, dataset) / below)
    assert names_of(frames) == ["000000_10", "000001_10", "000007_10"]
    left, right, occ, noc, calib = KITTI_FOLDERS[dataset]
    training = tmp_path / "training"
    assert frames[1] == Frame(
        name="000001_10",
        left=training / left / "000001_10.png",
        right=training / right / "000001_10.png",
        ground_truth=training / occ / "000001_10.png",
        ground_truth_noc=training / noc / "000001_10.png",
        calibration=training / calib / "000001.txt",
    )


def test_kitti_ground_truth(tmp_path):
    truth, noc = find_frames("kitti2015", make_kitti(tmp_path))[0].load_ground_truth()
    assert truth.dtype == noc.dtype == np.float32
    np.testing.assert_array_equal(truth, [[NAN, 1, 2.5, 2]] * 2)
    np.testing.assert_array_equal(noc, [[NAN, 1, NAN, 2]] * 2)


def test_kitti2012_grey_images_are_the_second_choice(tmp_path):
    training = make_kitti(tmp_path, "kitti2012") / "training"
    (training / "colored_0").rename(training / "image_0")
    (training / "colored_1").rename(training / "image_1")
    frame = find_frames("kitti2012", tmp_path)[0]
    assert (frame.left.parent.name, frame.right.parent.name) == ("image_0", "image_1")


def test_kitti_frames_without_ground_truth_are_no_frames(tmp_path):
    training = make_kitti(tmp_path) / "training"
    (training / "disp_occ_0/000001_10.png").unlink()
    (training / "disp_noc_0/000000_10.png").unlink()
    (training / "calib_cam_to_cam/000000.txt").unlink()
    write_image(training / "disp_occ_0/000007_11.png", grey(dtype=np.uint16))  # not official
    frames = find_frames("kitti2015", tmp_path)
    assert names_of(frames) == ["000000_10", "000007_10"]
    assert frames[0].ground_truth_noc is None
    assert frames[0].calibration is None
    assert frames[0].load_ground_truth()[1] is None


def test_kitti_missing_right_image_is_named(tmp_path):
    hole = make_kitti(tmp_path) / "training/image_3/000001_10.png"
    hole.unlink()
    with pytest.raises(FileError, match=r"right image") as caught:
        find_frames("kitti2015", tmp_path)
    assert caught.value.path == hole


def test_a_noc_map_of_another_size_is_named(tmp_path):
    make_kitti(tmp_path)
    noc = write_image(tmp_path / "training/disp_noc_0/000000_10.png", grey(3, 2, 256, np.uint16))
    with pytest.raises(FileError, match=r"4x2, got 3x2") as caught:
        find_frames("kitti2015", tmp_path)[0].load_ground_truth()
    assert caught.value.path == noc


# Middlebury with scenes.json


def make_listed(root, **changes):
    write_image(root / "a/left.png", grey(5))
    write_image(root / "a/right.png", grey(5))
    write_image(root / "a/gt.png", np.array([[0, 2, 4, 6, 8]], dtype=np.uint8))
    write_image(root / "a/mask.png", np.array([[0, 255, 128, 255, 255]], dtype=np.uint8))
    scene = {"split": "test", "left": "a/left.png", "right": "a/right.png", "gt": "a/gt.png"}
    scene |= {"mask_vis": "a/mask.png", "disparity_scale": 2} | changes
    content = {"Zebra": scene, "Ant": scene | {"split": "train"}}
    (root / "scenes.json").write_text(json.dumps(content))
    return root


def test_listed_scenes(tmp_path):
    frames = find_frames("middlebury", make_listed(tmp_path))
    assert names_of(frames) == ["Ant", "Zebra"]
    truth, noc = frames[0].load_ground_truth()
    np.testing.assert_array_equal(truth, [[NAN, 1, 2, 3, 4]])
    np.testing.assert_array_equal(noc, [[NAN, 1, NAN, 3, 4]])
    assert names_of(find_frames("middlebury", tmp_path, split="test")) == ["Zebra"]
    with pytest.raises(InputError, match=r'"test", "train".*got "validation"'):
        find_frames("middlebury", tmp_path, split="validation")


def test_listed_scene_without_mask_has_no_noc(tmp_path):
    frame = find_frames("middlebury", make_listed(tmp_path, mask_vis=None))[0]
    assert frame.load_ground_truth()[1] is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gt": None}, 'scenes.json: .*gt of "Zebra".*None'),
        ({"right": "a/lost.png"}, "lost.png: .*right of .*scenes.json"),
        ({"disparity_scale": 0}, "scenes.json: .*disparity_scale.*got 0"),
        ({"disparity_scale": True}, "scenes.json: .*disparity_scale.*got True"),
        ({"disparity_scale": "2"}, "scenes.json: .*disparity_scale.*got '2'"),
    ],
)
def test_wrong_listings_are_named(tmp_path, changes, words):
    with pytest.raises(FileError, match=words):
        find_frames("middlebury", make_listed(tmp_path, **changes))


@pytest.mark.parametrize("text", ["{", "[1]", '{"Art": 3}'])
def test_broken_listings_are_named(tmp_path, text):
    (tmp_path / "scenes.json").write_text(text)
    with pytest.raises(FileError, match=r"scenes.json: "):
        find_frames("middlebury", tmp_path)


def test_masks_of_other_values_or_sizes_are_refused(tmp_path):
    frame = find_frames("middlebury", make_listed(tmp_path))[0]
    write_image(frame.visible_mask, np.array([[0, 1]], dtype=np.uint8))
    with pytest.raises(FileError, match=r"mask.png: .*value 1"):
        frame.load_ground_truth()
    write_image(frame.visible_mask, np.array([[0, 255]], dtype=np.uint8))
    with pytest.raises(FileError, match=r"mask.png: .*5x1, got 2x1"):
        frame.load_ground_truth()
    with pytest.raises(FileError, match=r"one channel"):
        read_visible(write_image(tmp_path / "colour.png", np.zeros((2, 2, 3), np.uint8)))


# Official Middlebury folders

OFFICIAL = [
    ("middlebury2005", ("view1.png", "view5.png", "disp1.png", "disp5.png"), 1390, 1),
    ("middlebury2006", ("view1.png", "view5.png", "disp1.png", "disp5.png"), 1240, 1),
    ("middlebury2006", ("view1.png", "view5.png", "disp1.png", "disp5.png"), 620, 2),
    ("middlebury2005", ("view1.png", "view5.png", "disp1.png", "disp5.png"), 695, 2),
    ("middlebury2006", ("view1.png", "view5.png", "disp1.png", "disp5.png"), 413, 3),
    ("middlebury2005", ("view1.png", "view5.png", "disp1.png", "disp5.png"), 463, 3),
    ("middlebury2003", ("im2.png", "im6.png", "disp2.png", "disp6.png"), 450, 4),
    ("middlebury2003", ("im2.png", "im6.png", "disp2.png", "disp6.png"), 900, 2),
    ("middlebury2003", ("im2.ppm", "im6.ppm", "disp2.pgm", "disp6.pgm"), 1800, 1),
    ("middlebury", ("im2.ppm", "im6.ppm", "disp2.pgm", "disp6.pgm"), 434, 8),
]


def make_official(root, files, width, scale, pixels=10):
    left, right, truth, truth_right = (root / "Scene" / name for name in files)
    for path in (left, right):
        write_image(path, np.zeros((2, width, 3), np.uint8))
    for path in (truth, truth_right):
        write_image(path, grey(width, 2, pixels * scale))
    return root


@pytest.mark.parametrize(("dataset", "files", "width", "scale"), OFFICIAL)
def test_official_scenes_tell_their_scale_by_width(tmp_path, dataset, files, width, scale):
    make_official(tmp_path, files, width, scale)
    (frame,) = find_frames(dataset, tmp_path)
    assert frame.name == "Scene"
    assert [frame.left.name, frame.right.name, frame.ground_truth.name] == list(files[:3])
    assert frame.disparity_scale == scale
    truth, noc = frame.load_ground_truth()
    assert (truth == 10).all()
    assert np.isnan(noc[:, :10]).all()  # these lie outside the right view
    assert (noc[:, 10:] == 10).all()


def test_official_scene_in_parts(tmp_path):
    files = ("view1.png", "view5.png", "disp1.png", "disp5.png")
    scene = make_official(tmp_path, files, 463, 3) / "Scene"
    (scene / "disp5.png").unlink()
    assert find_frames("middlebury", tmp_path)[0].load_ground_truth()[1] is None
    (scene / "view5.png").unlink()
    with pytest.raises(FileError, match=r"view5.png: .*right image"):
        find_frames("middlebury", tmp_path)
    (scene / "disp1.png").unlink()
    with pytest.raises(FileError, match=r"found none; .*view1, view5 and disp1"):
        find_frames("middlebury", tmp_path)


def test_unofficial_width_asks_for_the_scale(tmp_path):
    make_official(tmp_path, ("im2.png", "im6.png", "disp2.png", "disp6.png"), 500, 4)
    with pytest.raises(FileError, match=r"disp2.png: .*got 500; .*scenes.json"):
        find_frames("middlebury", tmp_path)


def test_cross_check_by_hand():
    # A bar of disparity 5 before a ground of 1 hides the ground in columns 4 to 7 of the left view;
    # the look at both neighbours forgives 4 and 7, which border on ground that is seen.
    left = np.float32([[1, 1, 1, 1, 1, 1, 1, 1, 5, 5, 5, 5, 1, NAN]])
    right = np.float32([[1, 1, 1, 5, 5, 5, 5, 1, 1, 1, 1, 1, 1, 1]])
    hidden = np.flatnonzero(~visible_in_both(left, right))
    assert hidden.tolist() == [0, 5, 6, 13]  # 0 falls outside the right view, 13 is unknown
    assert not visible_in_both(left, np.full_like(right, NAN)).any()
    with pytest.raises(InputError, match=r"^right: "):
        visible_in_both(left, right[:, 1:])


def test_cross_check_tolerance_is_one_pixel_inclusive():
    left = np.float32([[2, 2, 2, 2, 2, 2]])
    assert visible_in_both(left, left + 1)[0].tolist() == [False, False, True, True, True, True]
    assert not visible_in_both(left, left + 1.25).any()


# Middlebury 2014


def make_2014(root, truth="disp0GT.pfm", mask=True, ndisp="ndisp=64\n"):
    scene = root / "Piano"
    for name in ("im0.png", "im1.png"):
        write_image(scene / name, np.zeros((2, 4, 3), np.uint8))
    write_pfm(scene / truth, [[np.inf, 1, 1.5, 2], [1, 1, 1, 1]])
    (scene / "calib.txt").write_text(f"cam0=[1 0 0; 0 1 0; 0 0 1]\ndoffs=3\n{ndisp}isint=0\n")
    if mask:
        write_image(scene / "mask0nocc.png", np.uint8([[0, 255, 128, 255], [128, 255, 255, 255]]))
    return root


@pytest.mark.parametrize("truth", ["disp0GT.pfm", "disp0.pfm"])
def test_middlebury2014(tmp_path, truth):
    (frame,) = find_frames("middlebury2014", make_2014(tmp_path, truth))
    assert (frame.name, frame.max_disparity) == ("Piano", 64)
    assert frame.calibration == tmp_path / "Piano/calib.txt"
    loaded, noc = frame.load_ground_truth()
    np.testing.assert_array_equal(loaded, [[NAN, 1, 1.5, 2], [1, 1, 1, 1]])
    np.testing.assert_array_equal(noc, [[NAN, 1, NAN, 2], [NAN, 1, 1, 1]])


def test_middlebury2014_cross_checks_without_a_mask(tmp_path):
    make_2014(tmp_path, "disp0.pfm", mask=False)
    write_pfm(tmp_path / "Piano/disp1.pfm", np.ones((2, 4)))
    noc = find_frames("middlebury2014", tmp_path)[0].load_ground_truth()[1]
    np.testing.assert_array_equal(noc, [[NAN, 1, 1.5, 2], [NAN, 1, 1, 1]])


def test_middlebury2014_ndisp(tmp_path):
    make_2014(tmp_path, ndisp="")
    assert find_frames("middlebury2014", tmp_path)[0].max_disparity is None
    make_2014(tmp_path, ndisp="ndisp=many\n")
    with pytest.raises(FileError, match=r'calib.txt: .*got "many"'):
        find_frames("middlebury2014", tmp_path)
    (tmp_path / "Piano/calib.txt").unlink()
    assert find_frames("middlebury2014", tmp_path)[0].calibration is None
    (tmp_path / "Piano/im1.png").unlink()
    with pytest.raises(FileError, match=r"im1.png: .*right image"):
        find_frames("middlebury2014", tmp_path)


# Splits, limits and what is refused


@pytest.mark.parametrize("below", ["", "training"])
def test_splits_and_limits(tmp_path, below):
    make_kitti(tmp_path)
    splits = {"train": ["000007_10", "000000_10"], "validation": ["000001_10"]}
    (tmp_path / "split.json").write_text(json.dumps(splits))
    path = tmp_path / below
    assert names_of(find_frames("kitti2015", path, "train")) == ["000000_10", "000007_10"]
    assert names_of(find_frames("kitti2015", path, "train", limit=1)) == ["000000_10"]
    assert names_of(find_frames("kitti2015", path, limit=2)) == ["000000_10", "000001_10"]
    assert len(find_frames("kitti2015", path, limit=99)) == 3
    with pytest.raises(InputError, match=r'"train", "validation".*got "test"'):
        find_frames("kitti2015", path, "test")


def test_a_split_needs_its_file(tmp_path):
    with pytest.raises(FileError, match=r"split.json: .*found none"):
        find_frames("kitti2015", make_kitti(tmp_path), "train")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"train": ["000000_10", "000099_10"]}', '"000099_10" .1 missing'),
        ('{"train": "000000_10"}', "\"train\", got '000000_10'"),
        ('{"train": [0]}', r'"train", got \[0\]'),
        ('{"train": []}', r'"train", got \[\]'),
        ("{train}", "JSON"),
    ],
)
def test_wrong_splits_are_named(tmp_path, text, words):
    make_kitti(tmp_path)
    (tmp_path / "split.json").write_text(text)
    with pytest.raises(FileError, match=f"split.json: .*{words}"):
        find_frames("kitti2015", tmp_path, "train")


@pytest.mark.parametrize("dataset", DATASETS)
def test_folders_that_are_none_are_refused_with_the_layout(tmp_path, dataset):
    hint = {"kitti2012": "colored_0", "kitti2015": "image_2", "middlebury2014": "disp0GT.pfm"}
    words = hint.get(dataset, "scenes.json")
    with pytest.raises(FileError, match=f"found nothing; .*{words}"):
        find_frames(dataset, tmp_path / "nowhere")
    with pytest.raises(FileError, match=f"found none; .*{words}"):
        find_frames(dataset, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=f"found a file; .*{words}"):
        find_frames(dataset, tmp_path / "file")


def test_unknown_datasets_and_limits_are_refused(tmp_path):
    with pytest.raises(InputError, match=r'^dataset: .*kitti2015.*got "kitti"'):
        find_frames("kitti", tmp_path)
    with pytest.raises(InputError, match=r"^limit: .*got 0"):
        find_frames("kitti2015", make_kitti(tmp_path), limit=0)


def test_import_is_light():
    heavy = "{'cv2', 'numba', 'skimage', 'scipy'}"
    code = f"import sys, slanted.evaluation; sys.exit(' '.join({heavy} & set(sys.modules)) or 0)"
    result = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


# Real data


def test_real_kitti2015(real_data):
    folder = real_data("kitti2015")
    splits = json.loads((folder / "split.json").read_text())
    found = {name: find_frames("kitti2015", folder, name) for name in splits}
    assert {name: [frame.name for frame in these] for name, these in found.items()} == splits
    assert len(find_frames("kitti2015", folder)) == sum(map(len, splits.values()))
    frames = found["validation"]
    assert all(frame.calibration is not None for frame in frames)
    for frame in frames[:3]:
        truth, noc = frame.load_ground_truth()
        assert not (np.isfinite(noc) & np.isnan(truth)).any()
        assert np.isfinite(noc).sum() < np.isfinite(truth).sum()
        assert evaluate(noc, truth, ground_truth_noc=noc)["density-noc"] == 100


def test_real_middlebury(real_data):
    folder = real_data("middlebury")
    frames = find_frames("middlebury", folder)
    assert len(frames) == 14
    assert len(find_frames("middlebury", folder, "train")) == 5
    for frame in (frame for frame in frames if frame.name in ("Cones", "Rocks2", "Bowling2")):
        truth, noc = frame.load_ground_truth()
        assert not (np.isfinite(noc) & np.isnan(truth)).any()
        # The masks of the shared data were made by the cross-check that this package makes.
        right = read_disparity(
            frame.ground_truth_right, format="middlebury", scale=frame.disparity_scale
        )
        np.testing.assert_array_equal(visible_in_both(truth, right), np.isfinite(noc))
