"""Sentences from a summary: what is said to be the most is rounded up."""

import math

import pytest

from slanted.output.summary_text import gap_text, label_shares, rounded_up


def test_what_is_the_most_is_rounded_up():
    assert rounded_up(0.1201, 2) == "0.13"
    assert rounded_up(0.12, 2) == "0.12"
    assert rounded_up(0.0, 3) == "0.000"
    assert rounded_up(math.inf, 1) == "inf"


@pytest.mark.parametrize("share", [None, math.nan, math.inf])
def test_the_share_of_the_search_is_left_out_where_it_is_not_known(share):
    known = {"gap_percent": 0.0301, "bound": 999.6, "gap_above_floor_percent": 3.21, "floor": 10}
    assert "at most 0.031 % above the optimum over the last particles (bound 1,000)" in gap_text(
        known
    )
    assert "at most 3.3 % of the energy above the floor of 10" in gap_text(known)
    told = gap_text({**known, "gap_above_floor_percent": share})
    assert told.endswith("(bound 1,000)")


def test_shares_of_labels():
    counts = {"coplanar": 6, "hinge": 2, "left_occlusion": 1, "right_occlusion": 1}
    assert label_shares({"boundaries": counts}) == {"coplanar": 60, "hinge": 20, "occlusion": 20}
    none = dict.fromkeys(counts, 0)
    assert set(label_shares({"boundaries": none}).values()) == {0}
