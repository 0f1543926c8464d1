"""The twin of OpenCV's SGBM: its conventions, its arguments, and what becomes of them."""

import inspect
import warnings

import cv2
import numpy as np
import pytest

import slanted
from slanted import StereoSlanted
from slanted.errors import InputError, SlantedWarning
from slanted.synthetic import make_scene

SCENE = make_scene(96, 64, segments=40, seed=1)
RGB = SCENE.left, SCENE.right
BGR = SCENE.left[..., ::-1], SCENE.right[..., ::-1]
GREY = tuple(view[..., 1] for view in RGB)


@pytest.fixture(scope="module")
def expected():
    return slanted.estimate(*RGB, preset="fast", max_disparity=40).disparity


def test_the_disparity_is_in_sixteenths_and_dense(expected):
    stereo = StereoSlanted.create(minDisparity=0, numDisparities=40, mode="fast")
    found = stereo.compute(*BGR)
    assert found.dtype == np.int16
    np.testing.assert_array_equal(found, np.rint(expected * 16))
    assert found.min() >= 0
    np.testing.assert_array_equal(stereo.result.disparity, expected)


def test_replacing_sgbm_is_one_line():
    """The same lines with OpenCV's matcher and with ours, but for the first."""
    answers = []
    for create in (cv2.StereoSGBM_create, StereoSlanted.create):
        stereo = create(minDisparity=-16, numDisparities=64)
        stereo.setMinDisparity(0)
        stereo.setNumDisparities(48)
        assert (stereo.getMinDisparity(), stereo.getNumDisparities()) == (0, 48)
        answers.append(stereo.compute(*BGR))
    theirs, ours = answers
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    both = theirs >= 0
    assert np.median(np.abs(ours - theirs)[both]) < 16  # the same scale and sign: within a pixel


def test_arguments_are_those_of_opencv_in_its_order():
    ours = list(inspect.signature(StereoSlanted.create).parameters.values())
    order = [parameter.name for parameter in ours if parameter.kind.name != "KEYWORD_ONLY"]
    documented = cv2.StereoSGBM_create.__doc__.partition("->")[0]
    places = [documented.index(name) for name in order]
    assert places == sorted(places)
    theirs = {name for name in dir(cv2.StereoSGBM) if name.startswith(("get", "set"))}
    assert theirs - {"getDefaultName"} <= set(dir(StereoSlanted))


def test_grey_and_files_are_taken_too(tmp_path, expected):
    stereo = StereoSlanted.create(0, 40, mode="fast")
    grey = slanted.estimate(*GREY, preset="fast", max_disparity=40).disparity
    np.testing.assert_array_equal(stereo.compute(*GREY), np.rint(grey * 16))
    for name, view in zip(("l.png", "r.png"), RGB, strict=True):
        slanted.write_image(tmp_path / name, view)
    found = stereo.compute(tmp_path / "l.png", tmp_path / "r.png")
    np.testing.assert_array_equal(found, np.rint(expected * 16))


@pytest.mark.parametrize("lowest", [0, -8])
def test_doubtful_pixels_get_the_value_that_opencv_has_for_unknown(lowest):
    dense = StereoSlanted.create(lowest, 48, mode="fast")
    sparse = StereoSlanted.create(lowest, 48, mode="fast", minConfidence=0.9)
    found, kept = dense.compute(*BGR), sparse.compute(*BGR)
    doubted = dense.result.confidence < 0.9
    assert 0.05 < doubted.mean() < 0.95
    assert (kept[doubted] == (lowest - 1) * 16).all()
    np.testing.assert_array_equal(kept[~doubted], found[~doubted])
    assert (kept[~doubted] >= lowest * 16).all()


def test_the_range_is_found_if_none_is_given():
    stereo = StereoSlanted.create()
    assert stereo.getNumDisparities() == 0
    assert stereo.settings == slanted.Settings()
    stereo.setMinDisparity(200)
    stereo.setNumDisparities(64)  # neither order of the two is refused
    assert stereo.settings.matching.max_disparity == 264
    stereo.setMinDisparity(-3)
    assert (stereo.getMinDisparity(), stereo.getNumDisparities()) == (-3, 64)


def test_settings_are_taken_and_kept():
    chosen = {"matching.max_disparity": 40, "confidence.min": 0.5, "seed": 3}
    chosen["space.max_depth"] = 30.0
    stereo = StereoSlanted.create(mode="fast", settings=chosen)
    assert stereo.settings == slanted.Settings.preset("fast").updated(chosen)
    assert stereo.settings.seed == 3
    stereo.setMode("best")
    assert stereo.getMode() == "best"
    assert stereo.settings.matching.max_disparity == 40
    assert stereo.getMinConfidence() == 0.5
    assert stereo.settings.space.max_depth == 30
    assert stereo.settings.inference == slanted.Settings.preset("best").inference
    stereo.setMode(cv2.StereoSGBM_MODE_HH)
    assert stereo.settings.inference == slanted.Settings().inference
    assert stereo.settings.seed == 3
    whole = slanted.Settings(seed=5)
    assert StereoSlanted.create(settings=whole).settings == whole


def test_a_mode_of_opencv_changes_no_setting():
    chosen = {"matching.max_disparity": 40, "segmentation.count": 70, "seed": 3}
    stereo = StereoSlanted.create(settings=chosen)
    for mode in (cv2.StereoSGBM_MODE_HH, cv2.StereoSGBM_MODE_SGBM_3WAY):
        stereo.setMode(mode)
        assert stereo.getMode() == mode
        assert stereo.settings == slanted.Settings().updated(chosen)


def test_the_start_of_the_range_alone_leaves_its_end():
    stereo = StereoSlanted.create(minDisparity=5, settings={"matching.max_disparity": 100})
    assert (stereo.getMinDisparity(), stereo.getNumDisparities()) == (5, 95)
    assert StereoSlanted.create(minDisparity=5).getNumDisparities() == 0


def test_floats_on_two_scales_are_refused_as_by_estimate():
    stereo = StereoSlanted.create(0, 40, mode="fast")
    with pytest.raises(InputError, match=r"^right: expected floats on the scale of the left image"):
        stereo.compute(BGR[0] / 255, BGR[1].astype(float))
    with pytest.raises(InputError, match=r"^right: expected the size of the left image, 96×64"):
        stereo.compute(BGR[0], BGR[1][:, 1:])


def test_no_known_disparity_is_below_the_range():
    scene = make_scene(96, 64, segments=40, seed=1)
    lowest = int(scene.disparity.max()) - 4
    calm = {"rectification.check": "warn"}  # most of the scene is farther away
    stereo = StereoSlanted.create(lowest, numDisparities=32, mode="fast", settings=calm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = stereo.compute(scene.left, scene.right)
    assert stereo.result.disparity.min() < lowest
    assert found.min() == 16 * lowest


@pytest.mark.parametrize("views", [BGR, GREY], ids=["BGR", "grey"])
def test_the_result_does_not_change_with_the_arrays_given(views):
    stereo = StereoSlanted.create(0, 40, mode="fast")
    own = [view.copy() for view in views]
    stereo.compute(*own)
    before = stereo.result.left.copy(), stereo.result.right.copy()
    for view in own:
        view[:] = 0
    np.testing.assert_array_equal(stereo.result.left, before[0])
    np.testing.assert_array_equal(stereo.result.right, before[1])


def test_what_belongs_to_sgbm_alone_is_kept_and_told():
    with pytest.warns(SlantedWarning, match="^blockSize, P1, P2: without effect") as said:
        stereo = StereoSlanted.create(0, 48, 5, P1=8 * 25, P2=32 * 25, uniquenessRatio=0)
    assert len(said) == 1
    assert said[0].filename == __file__
    assert (stereo.getBlockSize(), stereo.getP1(), stereo.getP2()) == (5, 200, 800)
    for name in (
        *("BlockSize", "P1", "P2", "Disp12MaxDiff", "PreFilterCap", "UniquenessRatio"),
        *("SpeckleWindowSize", "SpeckleRange"),
    ):
        with pytest.warns(SlantedWarning, match="without effect") as said:
            getattr(stereo, f"set{name}")(7)
        assert said[0].filename == __file__
        assert getattr(stereo, f"get{name}")() == 7


def test_a_given_array_is_written_to():
    stereo = StereoSlanted.create(0, 48, mode="fast")
    place = np.zeros((64, 96), np.int16)
    assert stereo.compute(*BGR, place) is place
    np.testing.assert_array_equal(place, stereo.compute(*BGR))
    for wrong in (np.zeros((64, 96), np.float32), np.zeros((3, 4), np.int16), []):
        with pytest.raises(InputError, match="disparity: expected an int16 array of shape"):
            stereo.compute(*BGR, wrong)


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"numDisparities": -16}, "numDisparities: expected at least 1, or 0 to find it"),
        ({"numDisparities": 48.0}, "numDisparities: expected a whole number of pixels, got 48.0"),
        ({"minDisparity": "0"}, "minDisparity: expected a whole number of pixels, got '0'"),
        ({"mode": "fasst"}, "preset: expected one of .* did you mean fast"),
        ({"minConfidence": 2}, r"confidence\.min: expected a number from 0.0 to 1.0"),
        ({"numDisparites": 48}, "unknown argument of create; did you mean numDisparities"),
        ({"settings": {"sed": 1}}, "sed: unknown setting; did you mean seed"),
    ],
)
def test_bad_arguments_get_a_sentence(named, sentence):
    with pytest.raises(InputError, match=sentence):
        StereoSlanted.create(**named)


def test_what_16_bits_cannot_hold_is_refused(monkeypatch):
    monkeypatch.setattr("slanted.opencv.stereo.MOST_DISPARITY", 20)
    stereo = StereoSlanted.create(0, 48, mode="fast")
    with pytest.raises(InputError, match="compute: expected disparities of at most 20 px"):
        stereo.compute(*BGR)
    assert stereo.result is None
