"""Pairs are found in the usual layouts, and names stay inside the output folder."""

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
    "a right image that is missing is named later": (
        ["left/1.png", "right/2.png"],
        [("1", "left/1.png", "right/1.png")],
    ),
    "scenes with left and right": (
        ["one/left.png", "one/right.png", "two/Left.png", "two/Right.png"],
        [("one", "one/left.png", "one/right.png"), ("two", "two/Left.png", "two/Right.png")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, tmp_path):
    files, expected = LAYOUTS[layout]
    touch(tmp_path, *files)
    assert found(tmp_path) == expected


def test_the_output_folder_is_not_searched(tmp_path):
    touch(tmp_path, "im0.png", "im1.png", "out/x/left.png", "out/x/right.png")
    assert len(find_pairs(tmp_path)) == 2
    assert len(find_pairs(tmp_path, tmp_path / "out")) == 1


def test_a_folder_without_pairs_tells_the_layouts(tmp_path):
    with pytest.raises(FileError, match="found none; expected image_2/ and image_3/"):
        find_pairs(tmp_path)


def test_manifest(tmp_path):
    (tmp_path / "pairs.csv").write_text("left,right,name\n../a.png,/b/c.png,day/1\nd.png,e.png,\n")
    assert find_pairs(tmp_path / "pairs.csv") == [
        Pair("d", tmp_path / "d.png", tmp_path / "e.png"),
        Pair("day/1", tmp_path / "../a.png", tmp_path / "/b/c.png"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
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


def test_frames_are_ordered_by_their_last_number():
    frame = Pair("x", __file__and("000007_10.png"), __file__and("r.png")).frame()
    assert frame is not None
    assert frame[1] == 10
    assert frame[0].endswith("000007_#")
    assert Pair("x", __file__and("left.png"), __file__and("right.png")).frame() is None


def __file__and(name):
    from pathlib import Path

    return Path("/videos") / name
