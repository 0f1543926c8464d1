"""Pairs are found in the usual layouts, and names stay inside the output folder."""

import os

import pytest

from slanted.batch.pairs import Pair, find_pairs, output_folder
from slanted.errors import FileError


def touch(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")


def found(root):
    return [
        (p.name, str(p.left.relative_to(root)), str(p.right.relative_to(root)))
        for p in find_pairs(root)
    ]


LAYOUTS = {
    "kitti": (
        ["training/image_2/000000_10.png", "training/image_3/000000_10.png"],
        [("training/000000_10", "training/image_2/000000_10.png", "training/image_3/000000_10.png")],
    ),
    "grey beside colour is the same scene": (
        ["image_2/a.png", "image_3/a.png", "image_0/a.png", "image_1/a.png"],
        [("a", "image_2/a.png", "image_3/a.png")],
    ),
    "kitti raw": (
        ["drive/image_02/data/0.png", "drive/image_03/data/0.png"],
        [("drive/0", "drive/image_02/data/0.png", "drive/image_03/data/0.png")],
    ),
    "middlebury": (
        ["Art/im0.png", "Art/im1.png", "Dolls/view1.png", "Dolls/view5.png", "Cones/im2.ppm", "Cones/im6.ppm"],
        [("Art", "Art/im0.png", "Art/im1.png"), ("Cones", "Cones/im2.ppm", "Cones/im6.ppm"), ("Dolls", "Dolls/view1.png", "Dolls/view5.png")],
    ),
    "words": (
        ["f9_left.png", "f9_right.png", "f10_left.png", "f10_right.png", "notes.txt", "map_left.png"],
        [("f9", "f9_left.png", "f9_right.png"), ("f10", "f10_left.png", "f10_right.png")],
    ),
    "folders left and right, other suffixes": (
        ["left/1.png", "right/1.jpg", "left/2.png", "right/2.png"],
        [("1", "left/1.png", "right/1.jpg"), ("2", "left/2.png", "right/2.png")],
    ),
    "a right image of the same name comes before others": (
        ["left/1.png", "right/1.png", "right/1.jpg"],
        [("1", "left/1.png", "right/1.png")],
    ),
    "files of no pair may have one name": (
        ["im0.png", "im1.png", "notes.png", "notes.jpg"],
        [("NAME", "im0.png", "im1.png")],
    ),
    "a right image that is missing is named later": (
        ["left/1.png", "right/2.png"],
        [("1", "left/1.png", "right/1.png")],
    ),
    "words in folders of one's own": (
        ["one/left_1.png", "one/right_1.png", "two/left_1.png", "two/right_1.png"],
        [("one/1", "one/left_1.png", "one/right_1.png"), ("two/1", "two/left_1.png", "two/right_1.png")],
    ),
    "words in folders left and right": (
        ["left/left_1.png", "right/right_1.png", "left/2.png", "right/2.png", "left/left.png", "right/right.png"],
        [("1", "left/left_1.png", "right/right_1.png"), ("2", "left/2.png", "right/2.png"), ("left", "left/left.png", "right/right.png")],
    ),
    "what other systems put beside images": (
        ["left_1.png", "right_1.png", "._left_1.png", "._right_1.png"],
        [("1", "left_1.png", "right_1.png")],
    ),
    "scenes inside a scene, as Middlebury's exposures": (
        ["Art/view1.png", "Art/view5.png", "Art/Illum1/Exp0/view1.png", "Art/Illum1/Exp0/view5.png"],
        [("Art/Illum1/Exp0", "Art/Illum1/Exp0/view1.png", "Art/Illum1/Exp0/view5.png"), ("Art/view1", "Art/view1.png", "Art/view5.png")],
    ),
    "results are no pairs": (
        ["im0.png", "im1.png", "old/a/left.png", "old/a/right.png", "old/a/run.json", "old/a/result.npz", "b/im0.png", "b/im1.png"],
        [("NAME", "im0.png", "im1.png"), ("b", "b/im0.png", "b/im1.png")],
    ),
    "scenes with left and right": (
        ["one/left.png", "one/right.png", "two/Left.png", "two/Right.png"],
        [("one", "one/left.png", "one/right.png"), ("two", "two/Left.png", "two/Right.png")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, tmp_path):
    files, expected = LAYOUTS[layout]
    root = tmp_path / "NAME"
    touch(root, *files)
    assert found(root) == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["left.png", "left.jpg", "right.png"], "NAME: expected one image called left, got left.jpg, left.png; keep one"),
        (["left.png", "right.png", "right.tif"], "one image called right, got right.png, right.tif"),
        (["Art/im0.png", "Art/im0.ppm", "Art/im1.png"], "Art: expected one image called im0"),
        (["Art/im0.png", "Art/im1.bmp", "Art/im1.png"], "Art: expected one image called im1"),
        (["left/1.png", "right/1.jpg", "right/1.tif"], "right: expected one image called 1, got"),
        (["left/1.png", "left/1.jpg", "right/1.png"], "two pairs would be written to one place"),
    ],
)  # fmt: skip
def test_which_of_several_files_is_meant_is_never_guessed(files, message, tmp_path):
    touch(tmp_path / "NAME", *files)
    with pytest.raises(FileError, match=message):
        find_pairs(tmp_path / "NAME")


def test_linked_folders_are_searched_once_and_circles_end(tmp_path):
    touch(tmp_path, "there/im0.png", "there/im1.png")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "Art").symlink_to(tmp_path / "there")
    (tmp_path / "here" / "again").symlink_to(tmp_path / "there")
    (tmp_path / "here" / "round").symlink_to(tmp_path / "here")
    assert [pair.name for pair in find_pairs(tmp_path / "here")] == ["Art"]


@pytest.mark.parametrize("folders", [["image_2"], ["image_2", "image_3"]])
def test_a_folder_that_cannot_be_searched_is_named(folders, tmp_path, monkeypatch):
    """Root may search everything, so that the refusal is played."""
    touch(tmp_path, *(f"{folder}/a.png" for folder in folders))

    def refuse(really):
        def listed(path):
            if str(path).endswith("image_2"):
                raise PermissionError(13, "Permission denied", str(path))
            return really(path)

        return listed

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(f"os.{name}", refuse(getattr(os, name)))
    with pytest.raises(FileError, match=r"image_2: cannot be searched for pairs \(Permission"):
        find_pairs(tmp_path)


def test_pairs_come_in_the_order_that_people_expect(tmp_path):
    files = [
        f"{name}_{side}.png" for name in ("b9", "b10", "a11", "c") for side in ("left", "right")
    ]
    touch(tmp_path, *files)
    assert [pair.name for pair in find_pairs(tmp_path)] == ["a11", "b9", "b10", "c"]


def test_the_output_folder_is_not_searched(tmp_path):
    touch(tmp_path, "im0.png", "im1.png", "out/x/left.png", "out/x/right.png")
    assert len(find_pairs(tmp_path)) == 2
    assert len(find_pairs(tmp_path, tmp_path / "out")) == 1
    assert len(find_pairs(tmp_path, tmp_path)) == 2  # results go beside the pairs


def test_a_folder_without_pairs_tells_the_layouts(tmp_path):
    with pytest.raises(FileError, match="found none; expected image_2/ and image_3/"):
        find_pairs(tmp_path)


def test_manifest(tmp_path):
    (tmp_path / "pairs.csv").write_text("left,right,name\n../a.png,/b/c.png,day/1\nd.png,e.png,\n")
    assert find_pairs(tmp_path / "pairs.csv") == [
        Pair("d", tmp_path / "d.png", tmp_path / "e.png"),
        Pair("day/1", tmp_path / "../a.png", tmp_path / "/b/c.png"),
    ]


def test_a_manifest_may_name_calibrations(tmp_path):
    (tmp_path / "pairs.csv").write_text("calib,left,right\nc/d.txt,a.png,b.png\n,e.png,f.png\n")
    first, second = find_pairs(tmp_path / "pairs.csv")
    assert (first.name, first.calibration_file) == ("a", tmp_path / "c/d.txt")
    assert second.calibration_file is None


@pytest.mark.parametrize(
    "text",
    [
        "left,right,name\na b.png,c.png,x\n",
        "\ufeffleft,right,name\r\na b.png,c.png,x\r\n",
        'left, right, name\n"a b.png", "c.png", x\n',
        "name,right,left\n\nx,c.png,a b.png\n\n",
    ],
)
def test_the_many_ways_to_write_a_manifest(text, tmp_path):
    (tmp_path / "pairs.csv").write_bytes(text.encode())
    assert find_pairs(tmp_path / "pairs.csv") == [
        Pair("x", tmp_path / "a b.png", tmp_path / "c.png")
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left,left,right\na,b,c\n", "expected a CSV manifest whose first line is left,right"),
        ("left,right\na\0.png,b.png\n", "line 2: expected names of files, got one with a null"),
        ("", "the file is empty"),
        ("a,b\n1,2\n", "expected a CSV manifest whose first line is left,right"),
        ("left,right\n", "expected a line for each pair"),
        ("left,right\na.png\n", "line 2: expected two files"),
        ("left,right\na.png,b.png,c\n", "line 2: expected two files"),
        ("left,right\na.png,b.png\nx/a.png,b.png\n", "two pairs would be written to one place"),
        ("left,right,name\na.png,b.png,s\na.png,b.png,s/t\n", "two pairs would be written to one"),
        ('left,right\n"a.png,b.png\n', "no CSV"),
    ],
)
def test_bad_manifests(text, message, tmp_path):
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(FileError, match=message):
        find_pairs(tmp_path / "pairs.csv")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "a/../../b", "/etc", "a//b", "a/", ".hidden", "a/.b", "failures", "failures/x", "summary.csv", "a\\b", "a\0b"]
)  # fmt: skip
def test_names_that_leave_the_output_are_refused(name, tmp_path):
    with pytest.raises(FileError, match="cannot be the name of a pair"):
        output_folder(tmp_path, name)


def test_a_link_out_of_the_output_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    with pytest.raises(FileError, match="leads out of"):
        output_folder(tmp_path / "out", "link/a")
    assert output_folder(tmp_path / "out", "a/b") == tmp_path / "out" / "a" / "b"


def test_numbers_of_any_length_are_sorted(tmp_path):
    (tmp_path / "pairs.csv").write_text(f"left,right\n{'9' * 5000}.png,b.png\n8.png,b.png\n")
    pairs = find_pairs(tmp_path / "pairs.csv")
    assert pairs[0].name == "8"
    assert pairs[1].frame() is not None


def test_frames_are_ordered_by_their_last_number():
    frame = Pair("x", __file__and("000007_10.png"), __file__and("r.png")).frame()
    assert frame is not None
    assert frame[1] == 10
    assert frame[0].endswith("000007_#")
    assert Pair("x", __file__and("left.png"), __file__and("right.png")).frame() is None


def __file__and(name):
    from pathlib import Path

    return Path("/videos") / name
