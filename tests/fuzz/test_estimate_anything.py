"""Whatever arrays `estimate` gets: a valid result, or an error that says what is wrong."""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

import slanted
from slanted.errors import SlantedError, SlantedWarning

EXAMPLES = int(os.environ.get("SLANTED_EXAMPLES", "0"))
"""For a long run: so many, others each time."""
QUICK = {
    "inference.iterations": "1",
    "refinement.rounds": "1",
    "refinement.iterations": "1",
    "threads": "1",
}
KINDS = ("noise", "constant", "black", "two levels", "ramp", "huge contrast", "stripes")
GIVEN = (None, "true", "some unknown", "one known", "all unknown", "zero", "steep", "infinite")
LABELS = (None, "one", "random", "pixels", "stripes", "negative names")


def image(kind, shape, rng, dtype):
    top = np.iinfo(dtype).max
    made = {
        "noise": lambda: rng.integers(0, top, shape, endpoint=True),
        "constant": lambda: np.full(shape, top // 3),
        "black": lambda: np.zeros(shape),
        "two levels": lambda: rng.integers(0, 2, shape) * top,
        "ramp": lambda: np.broadcast_to(
            np.linspace(0, top, shape[0]).reshape(-1, *[1] * (len(shape) - 1)), shape
        ),
        "huge contrast": lambda: np.where(rng.random(shape) < 0.01, top, 1),
        "stripes": lambda: np.broadcast_to(np.indices(shape)[1] % 2 * top, shape),
    }
    return np.ascontiguousarray(made[kind]().astype(dtype))


def disparity_of(kind, size, shift, rng):
    height, width = size
    flat = np.full(size, float(shift))
    if kind == "some unknown":
        flat[rng.random(size) < 0.7] = np.nan
    elif kind == "one known":
        flat[:] = np.nan
        flat[height // 2, width // 2] = shift
    elif kind == "all unknown":
        flat[:] = np.nan
    elif kind == "zero":
        flat[:] = 0
    elif kind == "steep":
        flat = np.broadcast_to(np.linspace(0, width - 1, width), size).copy()
    elif kind == "infinite":
        flat[rng.random(size) < 0.5] = np.inf
    return flat


def labels_of(kind, size, rng):
    made = {
        "one": lambda: np.zeros(size, int),
        "random": lambda: rng.integers(0, 5, size),
        "pixels": lambda: np.arange(size[0] * size[1]).reshape(size),
        "stripes": lambda: np.indices(size)[0],
        "negative names": lambda: -(np.indices(size)[1] // 3) * 10**12,
    }
    return made[kind]()


@st.composite
def problems(draw):
    # Half of the sizes are large enough to be matched; the largest have one side of 40 pixels.
    size = draw(st.one_of(
        st.tuples(st.integers(1, 12), st.integers(1, 12)),
        st.tuples(st.sampled_from((8, 9, 13, 17, 24)), st.sampled_from((8, 11, 16, 33, 40))),
    ))  # fmt: skip
    chosen = {
        "matching.method": draw(st.sampled_from(("census", "sgbm"))),
        "matching.max_disparity": draw(st.sampled_from(("auto", "1", "2", "6"))),
        "segmentation.method": draw(st.sampled_from(("slic", "slic+disparity", "ucm", "slic+ucm"))),
        "segmentation.count": draw(st.sampled_from(("auto", "1", "2", "7"))),
        "rectification.check": draw(st.sampled_from(("off", "warn", "refuse"))),
        "seed": str(draw(st.integers(0, 3))),
    }
    return {
        "size": size,
        "kind": draw(st.sampled_from(KINDS)),
        "dtype": draw(st.sampled_from((np.uint8, np.uint16))),
        "channels": draw(st.sampled_from(((), (3,)))),
        "shift": draw(st.integers(0, 5)),
        "other": draw(st.booleans()),  # a right image that shows something else: all hidden
        "given": draw(st.sampled_from(GIVEN)),
        "labels": draw(st.sampled_from(LABELS)),
        "settings": chosen,
        "seed": draw(st.integers(0, 5)),
    }


PLAIN = {"size": (24, 40), "kind": "noise", "dtype": np.uint8, "channels": (), "shift": 3,
         "other": False, "given": None, "labels": None, "settings": {}, "seed": 0}  # fmt: skip


@settings(
    max_examples=EXAMPLES or 60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=not EXAMPLES,
)
@given(problems())
@example({**PLAIN, "size": (1, 1)})
@example({**PLAIN, "size": (8, 8), "given": "true"})
@example({**PLAIN, "kind": "constant", "given": "true"})
@example({**PLAIN, "given": "one known", "labels": "pixels"})
@example({**PLAIN, "given": "true", "labels": "random"})
@example({**PLAIN, "settings": {"segmentation.count": "1"}})
@example({**PLAIN, "settings": {"matching.max_disparity": "1", "rectification.check": "off"}})
@example({**PLAIN, "other": True, "settings": {"rectification.check": "off"}})
@example({**PLAIN, "kind": "huge contrast", "dtype": np.uint16, "channels": (3,)})
def test_a_valid_result_or_a_sentence(problem):
    rng = np.random.default_rng(problem["seed"])
    height, width = problem["size"]
    shape = (height, width + problem["shift"], *problem["channels"])
    wide = image(problem["kind"], shape, rng, problem["dtype"])
    left = wide[:, :width].copy()
    right = wide[:, problem["shift"] :].copy()
    if problem["other"]:
        right = image("noise", right.shape, rng, problem["dtype"])
    disparity = problem["given"] and disparity_of(
        problem["given"], problem["size"], problem["shift"], rng
    )
    labels = problem["labels"] and labels_of(problem["labels"], problem["size"], rng)
    chosen = slanted.Settings().with_text({**QUICK, **problem["settings"]})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SlantedWarning)
            result = slanted.estimate(left, right, chosen, disparity=disparity, segments=labels)
    except SlantedError as error:
        message = str(error)
        assert ": " in message
        assert message.isprintable()
        event("refused")  # counted with --hypothesis-show-statistics
        return
    check(result, problem["size"])
    event("a valid result")


def test_nothing_to_explain_has_no_gap():
    flat = np.full((8, 16), 85, np.uint8)
    chosen = {**QUICK, "matching.max_disparity": "1", "rectification.check": "off"}
    labels = np.random.default_rng(0).integers(0, 5, (8, 16))
    result = slanted.estimate(flat, flat, slanted.Settings().with_text(chosen), segments=labels)
    assert result.energy == 0
    assert result.gap == 0
    assert result.gap_above_floor == 0


def check(result, size):
    assert result.disparity.shape == result.matched.shape == result.occluded.shape == size
    assert result.disparity.dtype == np.float32
    assert np.isfinite(result.disparity).all()
    assert np.isfinite(result.planes).all()
    assert result.planes.shape == (result.regions.count, 3)
    assert result.labels.shape == (len(result.regions.edges),)
    assert np.isin(result.labels, range(4)).all()
    assert np.isfinite([result.energy, result.bound]).all()
    assert result.gap >= 0  # infinite where the bound says nothing
    assert result.energy >= result.bound - 1e-6 * (1 + abs(result.bound))
    assert (result.matched[np.isfinite(result.matched)] >= 0).all()


@pytest.mark.parametrize("size", [(8, 20_000), (20_000, 8)])
def test_long_thin_pairs(size):
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 256, (size[0], size[1] + 3)).astype(np.uint8)
    chosen = slanted.Settings().with_text({**QUICK, "matching.max_disparity": "6"})
    result = slanted.estimate(wide[:, : size[1]].copy(), wide[:, 3:].copy(), chosen)
    check(result, size)
