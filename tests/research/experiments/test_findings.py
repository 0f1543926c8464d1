"""Findings: each rule says true, false, or that the figures are missing."""

import pytest

from slanted.research.experiments import findings, paper
from slanted.research.experiments.data import KITTI, METRIC, METRICS, MIDDLEBURY, VALIDATION
from slanted.research.experiments.findings import Claim
from slanted.research.experiments.jobs.frames import INFERENCE, PER_SWEEP, SEGMENTS, SWEEPS
from slanted.research.experiments.tables import Row, Table


def table(figures, column=METRIC):
    rows = [Row(str(name), (value,)) for name, value in figures.items()]
    return Table("t", (column,), tuple(rows), over="7 frames")


def judge(rule, figures, column=METRIC):
    return Claim("S.", rule).check({VALIDATION.key: table(figures, column)})


ORDER = findings.in_order(["a", "b"], METRIC)
FAR = findings.oracle_is_far_below("ours", "oracle")
AHEAD = findings.below_all("ours", ["x", "y"])
FALL = findings.errors_fall("1200")
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
        (FALL, {"200": 9, "2000": 7, "1200": 8}, True),
        (FALL, {"200": 9, "400": 9.5, "1200": 8, "2000": 7}, True),
        (FALL, {"200": 9, "1200": 8, "2000": 8}, False),
        (FALL, {"200": 8, "1200": 8.1, "2000": 7}, False),
        (FALL, {"200": 9, "2000": 7}, None),
        (FALL, {"200": 9, "1200": 8, "2000": None}, None),
        (FALL, {}, None),
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


def timed(sweeps, each):
    """A table of times that follow from sweeps and from microseconds for each and each segment."""
    rows = [
        Row(str(n), (n + 7.0, sweeps(n), each(n), 1e-6 * sweeps(n) * each(n) * (n + 7)))
        for n in COUNTS
    ]
    return Table("t", (SEGMENTS, SWEEPS, PER_SWEEP, INFERENCE), tuple(rows))


def test_more_sweeps_are_told_from_slower_sweeps():
    table = timed(sweeps=lambda n: n / 10, each=lambda n: 5.0)
    whole, sweep = findings.time_is_linear(table), findings.sweep_time_is_linear(table)
    assert (whole[0], sweep[0]) == (False, True)
    assert whole[1].endswith("; sweeps until convergence grow too, from 20 to 200")
    assert "ms + 5.00 ms for 1000 superpixels" in sweep[1]
    assert sweep[1].endswith("; 5.0 to 5.0 µs for each sweep and segment")
    table = timed(sweeps=lambda n: 50.0, each=lambda n: n / 100)
    whole, sweep = findings.time_is_linear(table), findings.sweep_time_is_linear(table)
    assert (whole[0], sweep[0]) == (False, False)
    assert "grow too" not in whole[1]
    table = timed(sweeps=lambda n: 50 + n / 1000, each=lambda n: 5.0)
    assert "grow too" not in findings.time_is_linear(table)[1]


def test_errors_at_few_and_many_superpixels_are_stated():
    _, text = FALL(table({"200": 9, "800": 6, "1200": 8, "2000": 7}))
    assert text == f"{METRIC}: 9.00 with 200, 8.00 with 1200, 7.00 with 2000; least 6.00 with 800"


def test_times_without_sweeps_are_judged_as_far_as_they_go():
    rows = [Row(str(n), (float(n), None, None, n / 1000)) for n in COUNTS]
    whole = Table("t", (SEGMENTS, SWEEPS, PER_SWEEP, INFERENCE), tuple(rows))
    tables = {VALIDATION.key: whole}
    assert Claim("S.", findings.time_is_linear).check(tables).holds is True
    assert Claim("S.", findings.sweep_time_is_linear).check(tables).holds is None


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
