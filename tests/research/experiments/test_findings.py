"""Findings: each rule says true, false, or that the figures are missing."""

import pytest

from slanted.research.experiments import findings, paper
from slanted.research.experiments.data import KITTI, METRIC, METRICS, MIDDLEBURY, VALIDATION
from slanted.research.experiments.findings import Claim
from slanted.research.experiments.jobs.frames import INFERENCE, SEGMENTS
from slanted.research.experiments.tables import Row, Table


def table(figures, column=METRIC):
    rows = [Row(str(name), (value,)) for name, value in figures.items()]
    return Table("t", (column,), tuple(rows), over="7 frames")


def judge(rule, figures, column=METRIC):
    return Claim("S.", rule).check({VALIDATION.key: table(figures, column)})


ORDER = findings.in_order(["a", "b"], METRIC)
FAR = findings.oracle_is_far_below("ours", "oracle")
AHEAD = findings.below_all("ours", ["x", "y"])
ALIKE = findings.little_difference(0.15)


@pytest.mark.parametrize(
    ("rule", "figures", "holds"),
    [
        (ORDER, {"a": 1, "b": 2}, True),
        (ORDER, {"a": 2, "b": 2}, False),
        (ORDER, {"a": 1}, None),
        (ORDER, {"a": 1, "b": None}, None),
        (AHEAD, {"ours": 1, "x": 2}, True),
        (AHEAD, {"ours": 1, "x": 2, "y": 0.5}, False),
        (AHEAD, {"ours": 1, "x": 2, "y": None}, None),
        (AHEAD, {"ours": 1}, None),
        (FAR, {"ours": 4, "oracle": 2}, True),
        (FAR, {"ours": 4, "oracle": 2.1}, False),
        (findings.two_draws_suffice, {"0": 9, "2": 8.05, "5": 8}, True),
        (findings.two_draws_suffice, {"0": 9, "2": 8.2, "5": 8}, False),
        (findings.two_draws_suffice, {"0": 9, "2": 9, "5": 9}, False),
        (findings.two_draws_suffice, {"0": 9, "2": 8.9, "5": 9.5}, False),
        (ALIKE, {"a": 8, "b": 8.1}, True),
        (ALIKE, {"a": 8, "b": 8.2}, False),
        (ALIKE, {"a": 8}, None),
        (ALIKE, {}, None),
        (findings.one_image_suffices, {"by hand": 1, "1": 8.1, "5": 7, "10": 8}, True),
        (findings.one_image_suffices, {"1": 8.2, "10": 8}, False),
        (findings.one_image_suffices, {"1": 8.2}, None),
        (findings.one_image_suffices, {}, None),
    ],
)
def test_rules(rule, figures, holds):
    found = judge(rule, figures)
    assert found.holds is holds
    assert found.statement == "kitti2015: S."
    assert VALIDATION.key in found.evidence
    assert ("7 frames" in found.evidence) == (holds is not None)


def test_ahead_means_in_every_column():
    columns = ("out-2px-all", METRIC, "seconds")
    rows = Row("ours", (2.0, 1.0, 9.0)), Row("x", (1.9, 2.0, 1.0))
    found = Claim("S.", AHEAD).check({VALIDATION.key: Table("t", columns, rows)})
    assert found.holds is False
    assert "ahead in 1 of 2 columns" in found.evidence


COUNTS = (200, 400, 800, 1200, 1600, 2000)


@pytest.mark.parametrize(
    ("seconds", "holds"),
    [
        (lambda n: n / 1000, True),
        (lambda n: 0.5 + n / 1000, True),
        (lambda n: (n / 1000) ** 1.1, True),
        (lambda n: (n / 1000) ** 1.5, False),
        (lambda n: (n / 1000) ** 2, False),
        (lambda n: 3 - n / 1000, False),
    ],
)
def test_time_is_linear(seconds, holds):
    rows = [Row(str(n), (1.0, n + 7.0, seconds(n + 7.0))) for n in COUNTS]
    figures = Table("t", (METRIC, SEGMENTS, INFERENCE), tuple(rows))
    assert findings.time_is_linear(figures)[0] == holds


def test_a_table_that_is_not_there():
    found = Claim("S.", ORDER).check({})
    assert (found.holds, found.verdict) == (None, "not known")
    assert "missing" in found.evidence


def of_the_paper(dataset, rows):
    cells = [Row(str(name), tuple(row)) for name, row in rows.items()]
    return Table("t", METRICS[dataset], tuple(cells))


@pytest.mark.parametrize("dataset", [KITTI, MIDDLEBURY])
def test_the_papers_own_figures_bear_out_what_it_finds(dataset):
    kinds = {name: row for name, (_, row) in paper.SEGMENTATION[dataset].items()}
    order = findings.in_order(["UCM + SLIC", "SLIC", "UCM"])
    assert order(of_the_paper(dataset, kinds))[0]
    rows = {
        "oracle": paper.ORACLE[dataset],
        "initial fit": paper.INITIAL_FIT[dataset],
        "ours": paper.OURS_BESIDE_ORACLE[dataset],
    }
    assert findings.oracle_is_far_below("ours", "oracle")(of_the_paper(dataset, rows))[0]
    assert findings.below_all("ours", ["initial fit"])(of_the_paper(dataset, rows))[0]
    rows = {"ours": paper.OURS[dataset], "x": paper.SGBM[dataset], "y": paper.ELAS[dataset]}
    assert AHEAD(of_the_paper(dataset, rows))[0]


def test_the_papers_own_learning_bears_out_what_it_finds():
    assert findings.one_image_suffices(of_the_paper(KITTI, paper.TRAINING_SIZE))[0]
    assert findings.little_difference(findings.LITTLE)(of_the_paper(KITTI, paper.LOSS))[0]
