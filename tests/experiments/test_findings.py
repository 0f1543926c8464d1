"""Findings: each rule says true, false, or that the figures are missing."""

import pytest

from slanted.experiments import findings
from slanted.experiments.findings import METRIC, check
from slanted.experiments.plans import SECONDS, VALIDATION
from slanted.experiments.tables import Row, Table


def table(figures, column=METRIC):
    rows = [Row(str(name), (value,)) for name, value in figures.items()]
    return Table("t", (column,), tuple(rows))


def judge(rule, figures, column=METRIC):
    return check("S.", {VALIDATION.key: table(figures, column)}, rule)


ORDER = findings.in_order(["a", "b"])
FAR = findings.oracle_is_far_below("ours", "oracle")
AHEAD = findings.below_all("ours", ["x", "y"])


@pytest.mark.parametrize(
    ("rule", "figures", "holds"),
    [
        (ORDER, {"a": 1, "b": 2}, True),
        (ORDER, {"a": 2, "b": 2}, False),
        (ORDER, {"a": 1}, None),
        (ORDER, {"a": 1, "b": None}, None),
        (AHEAD, {"ours": 1, "x": 2}, True),
        (AHEAD, {"ours": 1, "x": 2, "y": 0.5}, False),
        (FAR, {"ours": 4, "oracle": 2}, True),
        (FAR, {"ours": 4, "oracle": 2.1}, False),
        (findings.two_draws_suffice, {"0": 9, "2": 8.05, "5": 8}, True),
        (findings.two_draws_suffice, {"0": 9, "2": 8.2, "5": 8}, False),
        (findings.two_draws_suffice, {"0": 9, "2": 9, "5": 9}, True),
        (findings.two_draws_suffice, {"0": 8, "2": 9, "5": 9}, False),
        (findings.little_difference, {"a": 8, "b": 8.1}, True),
        (findings.little_difference, {"a": 8, "b": 8.2}, False),
        (findings.one_image_suffices, {"by hand": 1, "1": 8.1, "5": 7, "10": 8}, True),
        (findings.one_image_suffices, {"1": 8.2, "10": 8}, False),
    ],
)
def test_rules(rule, figures, holds):
    found = judge(rule, figures)
    assert found.holds is holds
    assert found.statement == "S."
    assert VALIDATION.key in found.evidence


@pytest.mark.parametrize(
    ("seconds", "holds"),
    [((1, 2, 4), True), ((1.2, 2.2, 4.2), True), ((1, 4, 16), False), ((4, 2, 1), False)],
)
def test_time_is_linear(seconds, holds):
    figures = dict(zip((100, 200, 400), seconds, strict=True))
    if seconds == (1, 4, 16):  # a parabola over a wider range, which no line explains
        figures = {n: (n / 100) ** 4 for n in (100, 200, 400, 800, 1600)}
    assert judge(findings.time_is_linear, figures, SECONDS).holds is holds


def test_a_table_that_is_not_there():
    found = check("S.", {}, ORDER)
    assert (found.holds, found.verdict) == (None, "not known")
    assert "missing" in found.evidence
