"""Ways to call `slanted.estimate`: what each gives, or the sentence that it gets. One row a way."""

import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

import slanted
from slanted.errors import ArgumentError
from slanted.synthetic import make_scene

SCENE = make_scene(96, 64, segments=40, seed=1)
RGB = SCENE.left, SCENE.right
GREY = tuple(np.rint(view.mean(axis=2)).astype(np.uint8) for view in RGB)
DEEP = tuple(view.astype(np.uint16) * 257 for view in RGB)
CAMERAS = slanted.Calibration(100.0, 100.0, 47.5, 31.5, baseline_meters=0.1)
MIDDLEBURY = "cam0=[100 0 47.5; 0 100 31.5; 0 0 1]\ndoffs=0\nbaseline=100\n"
FAST = slanted.Settings.preset("fast")


class Tensor:
    """What slanted sees of a tensor of PyTorch: it becomes an array, or says why it cannot."""

    def __init__(self, values, problem=None):
        self.values, self.problem = values, problem

    def __array__(self, dtype=None, copy=None):
        if self.problem:
            raise TypeError(self.problem)
        return self.values


def both(change, pair=RGB):
    return tuple(map(change, pair))


def pillow(mode, pair=RGB):
    return both(lambda view: Image.fromarray(view).convert(mode), pair)


def palette():
    """Images of at most 256 colours, and the same as arrays."""
    images = both(lambda view: Image.fromarray(view).quantize(256))
    for image in images:
        image.info["transparency"] = bytes(range(256))
    return images


def with_alpha(view):
    alpha = np.tile(np.arange(96, dtype=view.dtype), (64, 1))
    return np.dstack([view, alpha])


def fortran(view):
    return np.asfortranarray(view)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a pair and what goes with it."""
    folder = tmp_path_factory.mktemp("calls")
    for name, view in zip(("left", "right"), RGB, strict=True):
        slanted.write_image(folder / f"{name}.png", view)
        Image.fromarray(view).convert("RGBA").save(folder / f"{name}-rgba.png")
    (folder / "calib.txt").write_text(MIDDLEBURY)
    (folder / "other.txt").write_text(MIDDLEBURY + "width=1240\nheight=375\n")
    (folder / "mine.toml").write_text("[matching]\nmax_disparity = 24\n")
    (folder / "text.png").write_text("no picture")
    return folder


@pytest.fixture(autouse=True)
def inside(files, monkeypatch):
    monkeypatch.chdir(files)


@pytest.fixture(scope="module")
def expected(files):
    """The disparities that ways to give the same pair must come to, by name."""
    made = {
        "colour": slanted.estimate(*RGB, FAST),
        "grey": slanted.estimate(*GREY, FAST),
        "deep": slanted.estimate(*DEEP, FAST),
        "palette": slanted.estimate(*both(lambda p: np.asarray(p.convert("RGBA"))[..., :3], palette()), FAST),
        "short": slanted.estimate(*RGB, FAST.updated({"matching": {"max_disparity": 24}})),
        "shifted": slanted.estimate(*RGB, FAST.updated({"matching": {"min_disparity": 2}})),
        "default": slanted.estimate(*RGB, slanted.Settings()),
    }  # fmt: skip
    assert len({result.disparity.tobytes() for result in made.values()}) == len(made)
    return made


# Arguments, and which of the expected results they give. Without settings, the preset is `fast`.
GOOD = {
    "arrays of uint8": (RGB, {}, "colour"),
    "grey arrays": (GREY, {}, "grey"),
    "arrays of uint16": (DEEP, {}, "deep"),
    "uint16, the other byte order": (both(lambda v: v.astype(">u2"), DEEP), {}, "deep"),
    "paths as text": (("left.png", "right.png"), {}, "colour"),
    "files with alpha": (("left-rgba.png", "right-rgba.png"), {}, "colour"),
    "a path and an array": (("left.png", RGB[1]), {}, "colour"),
    "Pillow, RGB": (pillow("RGB"), {}, "colour"),
    "Pillow, RGBA": (pillow("RGBA"), {}, "colour"),
    "Pillow, L": (pillow("L", GREY), {}, "grey"),
    "Pillow, LA": (pillow("LA", GREY), {}, "grey"),
    "Pillow, a palette with transparency": (palette(), {}, "palette"),
    "Pillow, I;16": (both(lambda v: Image.fromarray(v.astype(np.uint16) * 257), GREY), {}, None),
    "Pillow, I": (both(lambda v: Image.fromarray(v.astype(np.int32) * 257), GREY), {}, None),
    "Pillow, F": (both(lambda v: Image.fromarray(v.astype(np.float32)), GREY), {}, "grey"),
    "Pillow, YCbCr": (pillow("YCbCr"), {}, None),
    "floats from 0 to 1": (both(lambda v: v / 255), {}, "colour"),
    "float16 from 0 to 1": (both(lambda v: (v / 255).astype(np.float16)), {}, "colour"),
    "floats from 0 to 255": (both(lambda v: v.astype(np.float32)), {}, "colour"),
    "floats beside whole numbers": ((RGB[0] / 255, RGB[1]), {}, "colour"),
    "alpha last": (both(with_alpha), {}, "colour"),
    "alpha, float": (both(lambda v: with_alpha(v) / 255), {}, "colour"),
    "channels first": (both(lambda v: np.moveaxis(v, 2, 0)), {}, "colour"),
    "alpha, channels first": (both(lambda v: np.moveaxis(with_alpha(v), 2, 0)), {}, "colour"),
    "one channel last": (both(lambda v: v[..., None], GREY), {}, "grey"),
    "one channel first": (both(lambda v: v[None], GREY), {}, "grey"),
    "a batch of one": (both(lambda v: np.moveaxis(v, 2, 0)[None]), {}, "colour"),
    "tensors, float, channels first": (both(lambda v: Tensor(np.moveaxis(v, 2, 0) / 255)), {}, "colour"),
    "tensors, uint8": (both(Tensor), {}, "colour"),
    "buffers without a NumPy type": (both(lambda v: SimpleNamespace(__array_interface__=v.__array_interface__)), {}, "colour"),
    "masked arrays of which nothing is masked": (both(np.ma.array), {}, "colour"),
    "in Fortran's order": (both(fortran), {}, "colour"),
    "every second pixel of a larger image": (both(lambda v: v.repeat(2, 0).repeat(2, 1)[::2, ::2]), {}, "colour"),
    "read-only": (both(lambda v: np.frombuffer(v.tobytes(), np.uint8).reshape(v.shape)), {}, "colour"),
    "BGR": (both(lambda v: v[..., ::-1]), {"channels": "bgr"}, "colour"),
    "BGRA": (both(lambda v: with_alpha(v[..., ::-1])), {"channels": "bgr"}, "colour"),
    "BGR, channels first": (both(lambda v: np.moveaxis(v[..., ::-1], 2, 0)), {"channels": "bgr"}, "colour"),
    "no settings at all": (RGB, {"preset": None}, "default"),
    "Settings by position": ((*RGB, FAST), {"preset": None}, "colour"),
    "Settings by name": (RGB, {"settings": FAST, "preset": None}, "colour"),
    "a preset": (RGB, {"preset": "fast"}, "colour"),
    "the end of the range": (RGB, {"max_disparity": 24}, "short"),
    "the end of the range, from NumPy": (RGB, {"max_disparity": np.int64(24)}, "short"),
    "the start of the range": (RGB, {"min_disparity": 2}, "shifted"),
    "the range beside Settings": ((*RGB, FAST), {"preset": None, "max_disparity": 24}, "short"),
    "a dotted name": (RGB, {"settings": {"matching.max_disparity": 24}}, "short"),
    "nested names": (RGB, {"settings": {"matching": {"max_disparity": 24}}}, "short"),
    "a dotted section": (RGB, {"settings": {"matching.census": {"paths": 4}}}, "colour"),
    "a file of settings": (RGB, {"settings": "mine.toml"}, "short"),
    "an argument wins over a name": (RGB, {"settings": {"matching.max_disparity": 80}, "max_disparity": 24}, "short"),
    "a calibration": (RGB, {"calibration": CAMERAS}, "colour"),
    "a file of a calibration": (RGB, {"calibration": "calib.txt"}, "colour"),
    "all of the issue": (("left.png", "right.png"), {"max_disparity": 24, "calibration": "calib.txt"}, "short"),
}  # fmt: skip


@pytest.mark.parametrize("way", GOOD)
def test_a_way_that_works(way, expected):
    arguments, named, name = GOOD[way]
    result = slanted.estimate(*arguments, **{"preset": "fast", **named})
    assert result.disparity.shape == (64, 96)
    assert result.left.dtype in (np.uint8, np.uint16)
    if name is not None:
        assert result.disparity.tobytes() == expected[name].disparity.tobytes()
        np.testing.assert_array_equal(result.left, expected[name].left)
    if "calibration" in named:
        assert replace(result.calibration, image_size=None) == CAMERAS
        assert np.nanmin(result.depth()) > 0


def test_paths_of_pathlib(files, expected):
    result = slanted.estimate(files / "left.png", files / "right.png", preset="fast")
    assert result.disparity.tobytes() == expected["colour"].disparity.tobytes()


def test_16_bits_of_pillow_are_those_of_arrays():
    deep = both(lambda view: view.astype(np.uint16) * 257, GREY)
    array = slanted.estimate(*deep, preset="fast").disparity
    for way in ("Pillow, I;16", "Pillow, I"):
        assert slanted.estimate(*GOOD[way][0], preset="fast").disparity.tobytes() == array.tobytes()


def test_bgr_taken_for_rgb_is_another_image(expected):
    """So the row about BGR could fail."""
    swapped = slanted.estimate(*both(lambda view: view[..., ::-1]), FAST)
    assert swapped.disparity.tobytes() != expected["colour"].disparity.tobytes()


WHOLE = both(lambda view: (view - view.min()) / np.ptp(view))  # from 0 to 1, both ends reached
NAN = RGB[0] / 255
NAN[3, 4] = np.nan
# Arguments, and how their sentence starts.
BAD = {
    "a path that is missing": (("none.png", "right.png"), {}, "none.png: expected a file"),
    "a path that is empty": (("", "right.png"), {}, "left: expected a path, a Pillow image or an array, got an empty path"),
    "a file that is no image": (("left.png", "text.png"), {}, "text.png: "),
    "what cv2.imread returns for a missing file": ((None, RGB[1]), {}, "left: expected a path, a Pillow image or an array, got None, which cv2.imread"),
    "lists": (both(np.ndarray.tolist), {}, "left: expected a path, a Pillow image or an array, got list"),
    "bytes": ((b"left.png", b"right.png"), {}, "left: expected a path, a Pillow image or an array, got bytes"),
    "a number": ((RGB[0], 7), {}, "right: expected a path, a Pillow image or an array, got int"),
    "a mask": (both(lambda v: v > 9), {}, "left: expected an image of type uint8, uint16 or float, got bool; it looks like a mask"),
    "int64": (both(lambda v: v.astype(np.int64)), {}, "left: expected an image of type uint8, uint16 or float, got int64; convert it first"),
    "objects": (both(lambda v: v.astype(object)), {}, "left: expected an image of type uint8, uint16 or float, got object"),
    "complex": (both(lambda v: v * 1j), {}, "left: expected an image of type uint8, uint16 or float, got complex128"),
    "floats with NaN": ((NAN, RGB[1] / 255), {}, "left: expected finite floats, got NaN or infinity; fill"),
    "floats below 0": (both(lambda v: 2 * v - 1, WHOLE), {}, "left: expected floats on the scale 0 to 1 or 0 to 255, got -1 to 1; undo its normalisation"),
    "floats just above 1": (both(lambda v: v * 1.02, WHOLE), {}, "left: expected floats on the scale 0 to 1 or 0 to 255, got 0 to 1.02; scale or clip it"),
    "floats up to 65535": (both(lambda v: v * 65535, WHOLE), {}, "left: expected floats on the scale 0 to 1 or 0 to 255, got 0 to 6.554e+04; convert it to uint16"),
    "floats on two scales": ((RGB[0] / 255, RGB[1] * 1.0), {}, "right: expected floats on the scale of the left image, 0 to 1, got 0 to 255"),
    "channels that could be first or last": ((np.zeros((3, 64, 3), np.uint8),) * 2, {}, "left: expected an image of shape (H, W), (H, W, 3) or (3, H, W), got (3, 64, 3), whose channels could be"),
    "two channels": ((np.zeros((64, 96, 2), np.uint8),) * 2, {}, "left: expected an image of shape (H, W), (H, W, 3) or (3, H, W), got (64, 96, 2)"),
    "a row": ((np.zeros(64, np.uint8),) * 2, {}, "left: expected an image of shape (H, W), (H, W, 3) or (3, H, W), got (64,)"),
    "a batch": ((np.zeros((2, 3, 64, 96), np.uint8),) * 2, {}, "left: expected one image, got a batch of shape (2, 3, 64, 96)"),
    "nothing in it": ((np.zeros((0, 0), np.uint8),) * 2, {}, "left: expected at least 8×8 pixels, got 0×0"),
    "a tensor on a GPU": ((Tensor(None, "can't convert cuda:0 device type tensor"), RGB[1]), {}, "left: expected a path, a Pillow image or an array, got Tensor, of which NumPy cannot make one (can't convert cuda:0"),
    "Pillow, Lab": (pillow("LAB"), {}, "left: expected a Pillow image in grey or colour, got one of mode 'LAB'"),
    "a masked pixel": ((np.ma.array(RGB[0], mask=RGB[0] == RGB[0].max()), RGB[1]), {}, "left: expected an array without masked values, got"),
    "a masked disparity": (RGB, {"disparity": np.ma.array(np.ones((64, 96)), mask=np.eye(64, 96))}, "disparity: expected an array without masked values, got 64 of them; fill them"),
    "masked segments": (RGB, {"segments": np.ma.array(SCENE.segments, mask=np.eye(64, 96))}, "label image: expected an array without masked values, got 64"),
    "Pillow, 32 bits beyond 16": (both(lambda v: Image.fromarray(v.astype(np.int32) * 9999), GREY), {}, "left: expected a Pillow image in grey or colour, got one of mode 'I'"),
    "sizes differ": ((RGB[0], RGB[1][:, 1:]), {}, "right: expected the size of the left image, 96×64, got 95×64"),
    "depths differ": ((RGB[0], DEEP[1]), {}, "right: expected the bit depth of the left image (uint8), got uint16"),
    "BGR of grey arrays": (GREY, {"channels": "bgr"}, "channels: expected images in colour for 'bgr', but left is grey; leave out channels"),
    "BGR of files": (("left.png", "right.png"), {"channels": "bgr"}, "channels: expected arrays for 'bgr', but left.png is a file"),
    "BGR of Pillow": (pillow("RGB"), {"channels": "bgr"}, "channels: expected arrays for 'bgr', but left is a Pillow image"),
    "channels of no kind": (RGB, {"channels": "BGR"}, "channels: expected 'rgb' or 'bgr', got 'BGR'"),
    "a preset misspelt": (RGB, {"preset": "fasst"}, "preset: expected one of best, default, fast, network, paper, paper+, got 'fasst'; did you mean fast?"),
    "a preset as settings": ((*RGB, "fast"), {"preset": None}, "settings: expected names and values or a file, got the preset 'fast'; give it as preset='fast'"),
    "a preset and Settings": ((*RGB, FAST), {"preset": "best"}, "preset: expected none beside Settings, which has all values, got 'best'"),
    "settings of no kind": ((*RGB, 96), {}, "settings: expected Settings, a mapping such as"),
    "a setting misspelt": (RGB, {"settings": {"matching.max_dispartiy": 48}}, "matching.max_dispartiy: unknown setting; did you mean matching.max_disparity?"),
    "a setting without its section": (RGB, {"settings": {"count": 48}}, "count: unknown setting; did you mean segmentation.count?"),
    "a setting by a number": (RGB, {"settings": {3: 48}}, "settings: expected names as keys, got 3"),
    "a section with a value": (RGB, {"settings": {"matching.census": 48}}, "matching.census: expected a table of settings, got 48"),
    "a file of settings that is missing": (RGB, {"settings": "none.toml"}, "none.toml: expected a file"),
    "a range that is no number": (RGB, {"max_disparity": "many"}, "matching.max_disparity: expected a whole number"),
    "a range in fractions": (RGB, {"max_disparity": 40.5}, "matching.max_disparity: expected a whole number"),
    "a range beyond the width": (RGB, {"max_disparity": 500}, "matching.max_disparity: expected a disparity smaller than the image's width of 96"),
    "a range that ends before it starts": (RGB, {"min_disparity": 9, "max_disparity": 9}, "matching.max_disparity: expected more than min_disparity (9)"),
    "a calibration that is missing": (RGB, {"calibration": "none.txt"}, "none.txt: expected a file"),
    "a calibration of other images": (RGB, {"calibration": "other.txt"}, "other.txt: expected the calibration of images of 96×64 pixels, got that of 1240×375"),
    "a calibration of other images, as an object": (RGB, {"calibration": replace(CAMERAS, image_size=(9, 9))}, "calibration: expected the calibration of images of 96×64 pixels"),
    "a calibration of no kind": (RGB, {"calibration": 100.0}, "calibration: expected a slanted.Calibration or the path of its file, got float"),
    "an argument misspelt": (RGB, {"max_dispartiy": 48}, "max_dispartiy: unknown argument of estimate; did you mean max_disparity?"),
    "an argument of OpenCV's": (RGB, {"numDisparities": 48}, "numDisparities: unknown argument of estimate; did you mean max_disparity?"),
    "a setting as an argument": (RGB, {"threads": 1}, "threads: unknown argument of estimate; it is a setting, so give settings={'threads': …}"),
    "an argument of no kind": (RGB, {"qqqq": 1}, "qqqq: unknown argument of estimate, which has left, right, settings, preset"),
}  # fmt: skip


@pytest.mark.parametrize("way", BAD)
def test_a_way_that_is_answered_with_one_sentence(way, capfd):
    arguments, named, sentence = BAD[way]
    with pytest.raises(slanted.SlantedError) as raised:
        slanted.estimate(
            *arguments, **{"preset": "fast", **named} if len(arguments) == 2 else named
        )
    assert str(raised.value).startswith(sentence)
    assert "\n" not in str(raised.value)
    assert capfd.readouterr() == ("", "")


def test_there_are_at_least_forty_of_each():
    assert len(GOOD) >= 40
    assert len(BAD) >= 40


def test_a_misspelt_argument_is_a_type_error_as_everywhere_in_python():
    with pytest.raises(TypeError, match="did you mean channels"):
        slanted.estimate(*RGB, chanels="bgr")
    assert issubclass(ArgumentError, slanted.InputError)


def test_a_picture_of_pillow_whose_file_is_cut_is_refused(tmp_path):
    whole = (tmp_path / "whole.png", tmp_path / "cut.png")
    Image.fromarray(RGB[0]).save(whole[0])
    whole[1].write_bytes(whole[0].read_bytes()[:3000])
    with Image.open(whole[1]) as cut, pytest.raises(slanted.InputError) as raised:
        slanted.estimate(cut, RGB[1])
    assert str(raised.value).startswith("left: the Pillow image cannot be read (")


def test_other_doors_take_the_same(expected):
    from slanted.pipeline import match_pair, reestimate
    from slanted.segmentation import segment

    matched, _ = match_pair("left.png", "right.png", FAST)
    assert matched.tobytes() == match_pair(*RGB, FAST)[0].tobytes()
    floats = both(lambda view: view / 255)
    again = reestimate(expected["colour"], *floats, FAST)
    assert (
        again.disparity.tobytes() == reestimate(expected["colour"], *RGB, FAST).disparity.tobytes()
    )
    rules = replace(FAST.segmentation, method="slic")
    assert (segment(floats[0], rules) == segment(RGB[0], rules)).all()


def test_other_doors_take_settings_in_the_same_ways(expected):
    from slanted.pipeline import match_pair, reestimate

    short = {"matching.max_disparity": 24}
    matched, _ = match_pair(*RGB, short)
    assert matched.tobytes() == match_pair(*RGB, slanted.Settings().updated(short))[0].tobytes()
    assert matched.tobytes() == match_pair(*RGB, "mine.toml")[0].tobytes()
    result, few = expected["colour"], {"segmentation.count": 30}
    again = reestimate(result, settings=few)  # of the result's own pair, and on top of its settings
    assert again.settings == FAST.updated(few)
    same = reestimate(result, *RGB, FAST.updated(few))
    assert again.disparity.tobytes() == same.disparity.tobytes()
    assert again.left is result.left
    Path("few.toml").write_text("[segmentation]\ncount = 30\n")
    assert reestimate(result, *RGB, "few.toml").disparity.tobytes() == same.disparity.tobytes()
    with pytest.raises(slanted.InputError, match=r"did you mean segmentation\.count"):
        reestimate(result, settings={"segmentation.cuont": 30})
    with pytest.raises(slanted.InputError, match=r"^right: expected both images of the pair or"):
        reestimate(result, RGB[0], settings=FAST)
    with pytest.raises(slanted.InputError, match=r"^left: expected the pair of the result, which"):
        reestimate(replace(result, left=None), settings=FAST)


@pytest.mark.parametrize("kind", ["colour", "grey", "tensor", "uint16", "grey and colour"])
def test_a_result_does_not_change_with_the_arrays_it_was_given(kind):
    views = {"colour": RGB, "tensor": RGB, "grey": GREY, "uint16": DEEP}.get(
        kind, (GREY[0], RGB[1])
    )
    own = both(np.copy, views)
    given = both(Tensor, own) if kind == "tensor" else own
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", slanted.SlantedWarning)
        result = slanted.estimate(*given, preset="fast")
    before = result.left.copy(), result.right.copy()
    for view in own:
        view[:] = 0
    np.testing.assert_array_equal(result.left, before[0])
    np.testing.assert_array_equal(result.right, before[1])
    assert result.points()[1].any()


def test_warnings_name_the_line_of_the_caller():
    off = replace(CAMERAS, cx_pixels=2.0)
    with pytest.warns(slanted.SlantedWarning) as said:
        result = slanted.estimate(RGB[0], GREY[1], preset="fast", calibration=off)
        result.calibrated(off)
    told = [str(each.message) for each in said]
    assert any("is in colour" in each for each in told)
    assert sum("principal point" in each for each in told) == 2
    assert {each.filename for each in said} == {__file__}


def test_messages_name_the_files():
    with pytest.raises(slanted.InputError, match=re.escape("left.png, right: no pixel could be")):
        slanted.estimate("left.png", np.zeros((64, 96, 3), np.uint8))


def test_importing_slanted_and_its_names_loads_nothing_heavy():
    code = (
        "import sys, slanted\n"
        "slanted.estimate, slanted.Result, slanted.StereoSlanted, slanted.Settings\n"
        "print({'numba', 'cv2', 'PIL', 'scipy', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
