"""Pairs that cannot be one scene are refused, doubtful ones get a warning, good ones nothing."""

import json
import re
import warnings
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from slanted import Settings, estimate
from slanted.cli import main
from slanted.errors import ImplausibleError, RectificationError, SlantedWarning
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.matching import DisparityRange, rectification
from slanted.matching.plausibility import doubts_about
from slanted.matching.rectification import RectificationCheck

SIZE = 370, 250
LEFT, RIGHT = (
    cv2.resize(image, SIZE, interpolation=cv2.INTER_AREA) for image in load_motorcycle()[:2]
)
FAST = Settings.preset("fast")
FORCED = FAST.with_text({"rectification.check": "warn"})


def noise(seed):
    return np.random.default_rng(seed).integers(0, 256, LEFT.shape).astype(np.uint8)


def cloudy(seed):
    rough = np.random.default_rng(seed).normal(0, 1, LEFT.shape[:2])
    smooth = cv2.GaussianBlur(rough, (0, 0), 4)
    return np.uint8(np.clip(128 + 40 * smooth / smooth.std(), 0, 255))


IMPLAUSIBLE = {
    "upside down": (LEFT, RIGHT[::-1].copy()),
    "turned": (LEFT, cv2.resize(np.rot90(RIGHT).copy(), SIZE)),
    "negative": (LEFT, 255 - RIGHT),
    "noise": (noise(0), noise(1)),
    "smooth noise": (cloudy(0), cloudy(1)),
    "noise on one side": (LEFT, noise(1)),
    "black on one side": (np.zeros_like(LEFT), RIGHT),
}


@pytest.mark.parametrize("name", IMPLAUSIBLE)
def test_two_scenes_are_refused_unless_forced(name):
    pair = IMPLAUSIBLE[name]
    with pytest.raises(
        ImplausibleError, match=r"left, right: expected two views of one scene, but "
    ):
        estimate(*pair, FAST)
    with pytest.warns(SlantedWarning, match="the result is doubtful: only"):
        result = estimate(*pair, FORCED)
    assert result.doubts


@pytest.mark.parametrize("flipped", [False, True])
def test_swapped_and_mirrored_pairs_are_refused(flipped):
    pair = (LEFT[:, ::-1].copy(), RIGHT[:, ::-1].copy()) if flipped else (RIGHT, LEFT)
    with pytest.raises(RectificationError, match="seem to be swapped"):
        estimate(*pair, FAST)


def test_one_mirrored_view_is_doubtful():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            estimate(LEFT, RIGHT[:, ::-1].copy(), FAST)
        except (ImplausibleError, RectificationError):
            return
    assert any("doubtful" in str(each.message) for each in told)


def test_a_good_pair_has_no_doubts():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert estimate(LEFT, RIGHT, FAST).doubts == ()


def test_a_disparity_of_ones_own_does_not_make_two_scenes_one(monkeypatch):
    strangers = RectificationCheck(50, 60.0, 0.0, 40.0, 0.5, consistent_share=0.06)
    monkeypatch.setattr(rectification, "measure_rectification", lambda *_: strangers)
    ramp = np.tile(np.linspace(5, 20, SIZE[0], dtype=np.float32), (SIZE[1], 1))
    with pytest.warns(SlantedWarning, match="only 6% lie where one scene would have them"):
        result = estimate(LEFT, RIGHT, FAST, disparity=ramp)
    assert result.doubts


def test_a_range_that_is_too_small_is_told():
    short = FAST.with_text({"matching.max_disparity": "12"})
    with pytest.warns(SlantedWarning, match="but the range ends at 12; raise matching.max_dis"):
        estimate(LEFT, RIGHT, short)


def test_matches_alone_tell_of_a_range_that_is_too_small(monkeypatch):
    monkeypatch.setattr(rectification, "measure_rectification", lambda *_: None)
    short = FAST.with_text({"matching.max_disparity": "16"})
    with pytest.warns(SlantedWarning, match=r"\d+% of the matches lie where the range ends, at 16"):
        result = estimate(LEFT, RIGHT, short)
    assert "raise matching.max_disparity" in result.doubts[-1]


@pytest.mark.parametrize(
    ("matched", "at_end", "agree", "told"),
    [
        (0.9, 0.03, None, ["3% of the matches lie where the range ends, at 64 px"]),
        (0.9, 0.01, None, []),
        (0.4, 0.03, None, ["only 40%"]),  # of two scenes, perhaps
        (0.4, 0.03, 1.0, ["only 40%", "3% of the matches lie where the range ends"]),
        (0.4, 0.03, 0.1, ["only 40%", "only 10% lie where one scene would have them"]),
    ],
)
def test_when_matches_at_the_end_of_the_range_count(matched, at_end, agree, told):
    disparity = np.full((100, 100), 20, np.float32)
    disparity[:, int(100 * matched) :] = np.nan
    flat = disparity.reshape(-1)
    known = np.flatnonzero(np.isfinite(flat))
    flat[known[: int(at_end * known.size) + 1]] = 63.2
    features = None
    if agree is not None:
        features = RectificationCheck(50, 0.0, 0.0, 40.0, 0.5, consistent_share=agree)
    found = doubts_about(
        SimpleNamespace(disparity=disparity), DisparityRange(0, 64), features, (LEFT, RIGHT)
    )
    assert len(found) == len(told)
    assert all(part in doubt for part, doubt in zip(told, found, strict=True)), found


@pytest.mark.parametrize(("gain", "light"), [(0.02, "dark"), (40.0, "overexposed")])
def test_why_little_is_matched_is_told(gain, light):
    rng = np.random.default_rng(0)
    pair = [np.uint8(np.clip(each * gain + rng.integers(0, 6, each.shape), 0, 255))
            for each in (LEFT, RIGHT)]  # fmt: skip
    with pytest.warns(
        SlantedWarning, match=rf"only \d+% .* checks of matching \(the pair is {light}"
    ):
        # Guided, noise has fewer rivals, and more of it is matched.
        estimate(*pair, FORCED.updated({"matching.census.guided": False}))


def test_the_command_line_refuses_and_can_be_forced(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cv2.imwrite("left.png", LEFT)
    cv2.imwrite("other.png", RIGHT[::-1])
    arguments = ["run", "left.png", "other.png", "--preset", "fast"]
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    out, err = capsys.readouterr()
    assert "left.png, other.png: expected two views of one scene" in err
    assert "(--force)" in err
    assert not (tmp_path / "slanted-out").exists()
    with warnings.catch_warnings(), pytest.raises(SystemExit) as stopped:
        warnings.simplefilter("always")
        main([*arguments, "--force"])
    assert not stopped.value.code
    out, err = capsys.readouterr()
    assert "slanted: warning: the result is doubtful: only" in err
    out = out.splitlines()
    # Whoever reads how near the optimum is reads this first.
    assert re.match(r"doubtful +only", out[0])
    assert any("above the optimum" in line for line in out[1:])
    record = json.loads((tmp_path / "slanted-out/run.json").read_text())
    assert record["doubts"][0].startswith("only ")
    with pytest.raises(SystemExit):
        main(["info", "slanted-out"])
    assert "only " in capsys.readouterr().out
