"""Frames of two cameras that belong together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slanted.ros.pairing import Stamps, pair_by_stamp, remarks, seconds

MS = 10**6


def at(milliseconds, logged=None, topic="/left"):
    stamps = np.array(milliseconds, np.int64) * MS
    logged = stamps if logged is None else np.array(logged, np.int64) * MS
    return Stamps(topic, np.arange(len(stamps)), stamps, logged)


def pairs(left, right):
    found = pair_by_stamp(left, right)
    return list(zip(found.left.tolist(), found.right.tolist(), strict=True))


def test_equal_stamps_are_pairs_whatever_lies_near():
    assert pairs(at([0, 40, 100]), at([0, 1, 40, 101])) == [(0, 0), (1, 2), (2, 3)]


def test_frames_without_a_partner_stay_alone():
    left, right = at([0, 100, 200, 300]), at([200, 300, 400], topic="/right")
    assert pairs(left, right) == [(2, 0), (3, 1)]
    said = remarks(left, right, pair_by_stamp(left, right))
    assert said == [
        "/left: 2 of 4 frames had no partner within 50 ms",
        "/right: 1 of 3 frames had no partner within 50 ms",
    ]


def test_near_stamps_are_pairs_up_to_half_a_period():
    left = at([0, 100, 200])
    assert pairs(left, at([49, 149, 249])) == [(0, 0), (1, 1), (2, 2)]
    late = pair_by_stamp(left, at([49, 149, 249], topic="/right"))
    assert late.largest_difference == 49 * MS
    assert (
        "/right: frames were taken up to 49 ms off"
        in remarks(left, at([49], topic="/right"), late)[-1]
    )
    assert (
        pairs(at([0, 100]), at([50, 1050])) == []
    )  # as near to the one before as to the one after


def test_a_clock_that_is_set_back_is_told_and_its_frames_are_paired_by_recording():
    stamps, logged = [0, 100, 200, 0, 100], [0, 100, 200, 300, 400]
    left, right = at(stamps, logged), at(stamps, logged, "/right")
    assert pairs(left, right) == [(k, k) for k in range(5)]
    said = remarks(left, right, pair_by_stamp(left, right))
    assert said[0].startswith(
        "/left: the clock runs backwards 1 time, first from 0.200000000 to 0.000000000 s"
    )
    # One camera lost the first of the two frames of that stamp.
    fewer = at(stamps[1:], logged[1:], "/right")
    assert pairs(left, fewer) == [(1, 0), (2, 1), (3, 2), (4, 3)]


def test_stamps_that_nobody_set_are_paired_by_recording():
    left, right = at([0, 0, 0], [0, 100, 200]), at([0, 0], [101, 203])
    assert pairs(left, right) == [(1, 0), (2, 1)]


def test_nothing_pairs_with_nothing():
    found = pair_by_stamp(at([]), at([0]))
    assert not len(found.left)
    assert found.nearest is None


def test_seconds_keep_their_nanoseconds():
    assert seconds(1_700_000_000_123_456_789) == "1700000000.123456789"


times = st.lists(st.integers(0, 400), max_size=12)


@given(times, times)
def test_pairs_are_those_of_the_naive_twin(left, right):
    """Two frames are a pair if no frame is nearer to either, and they are near enough."""
    left, right = sorted(set(left)), sorted(set(right))
    found = pairs(at(left), at(right))
    limit = pair_by_stamp(at(left), at(right)).limit / MS
    for one, a in enumerate(left):
        for other, b in enumerate(right):
            apart = abs(a - b)
            nearer = min(abs(a - x) for x in right) < apart or min(abs(x - b) for x in left) < apart
            tied = [x for x in right if abs(a - x) == apart] + [
                x for x in left if abs(b - x) == apart
            ]
            if (one, other) in found:
                assert not nearer
                assert apart < limit or apart == 0
            elif not nearer and len(tied) == 2:
                assert apart >= limit > 0 or apart > 0 == limit
    assert len({one for one, _ in found}) == len({other for _, other in found}) == len(found)


@pytest.mark.parametrize(("stamps", "period"), [([], 0), ([5], 0), ([0, 33, 66, 500], 33)])
def test_the_period_is_the_usual_step(stamps, period):
    assert at(stamps).period == period * MS
