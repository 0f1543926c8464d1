"""The paper's qualitative findings as checks of our own tables (§4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from slanted.experiments.outcome import Finding
from slanted.experiments.plans import MAIN, SECONDS, VALIDATION
from slanted.experiments.tables import Table

Tables = Mapping[str, Table]
METRIC = f"{MAIN}-all"
NEARLY = 0.9
"""Share of a gain that nearly is the gain."""
LITTLE = 0.15
"""Points of out-3px that matter little; the paper's own differences are 0.11 and less."""
STRAIGHT = 0.95
"""Least share of the variance that a straight line explains."""
FAR = 0.5
"""Share of our error below which the oracle is far below it."""


def check(
    statement: str, tables: Tables, rule: Callable[[Table], tuple[bool, str]], part: str = ""
) -> Finding:
    """Return whether a table bears a statement out; without its figures it is not known."""
    key = part or VALIDATION.key
    try:
        holds, evidence = rule(tables[key])
    except (KeyError, StopIteration, TypeError):
        return Finding(statement, None, f"the figures of {key} are missing")
    return Finding(statement, bool(holds), f"{key}, {evidence}")


def figures(table: Table, rows: Sequence[str], metric: str = METRIC) -> list[float]:
    """Return a column's figures of some rows; a TypeError if one is missing."""
    return [float(table.cell(row, metric)) for row in rows]  # type: ignore[arg-type]


def in_order(rows: Sequence[str]) -> Callable[[Table], tuple[bool, str]]:
    """Return a rule: each row's error is below the next one's."""

    def rule(table: Table) -> tuple[bool, str]:
        errors = figures(table, rows)
        text = ", ".join(f"{name} {error:.2f}" for name, error in zip(rows, errors, strict=True))
        return bool(np.all(np.diff(errors) > 0)), f"{METRIC}: {text}"

    return rule


def below_all(row: str, others: Sequence[str]) -> Callable[[Table], tuple[bool, str]]:
    """Return a rule: a row's error is below that of all the others that there are."""

    def rule(table: Table) -> tuple[bool, str]:
        (ours,) = figures(table, [row])
        names = [r.name for r in table.rows if r.name in others]
        errors = figures(table, names)
        text = ", ".join(f"{name} {error:.2f}" for name, error in zip(names, errors, strict=True))
        return ours < min(errors), f"{METRIC}: {row} {ours:.2f}; {text}"

    return rule


def two_draws_suffice(table: Table) -> tuple[bool, str]:
    """Return whether two draws have nearly all that five gain over none."""
    none, two, five = figures(table, ["0", "2", "5"])
    share = (none - two) / (none - five) if none > five else float(none >= two)
    return share >= NEARLY, (
        f"{METRIC}: {none:.2f} without, {two:.2f} after two, {five:.2f} after five draws"
    )


def time_is_linear(table: Table) -> tuple[bool, str]:
    """Return whether time against the number of superpixels is a straight line."""
    names = [row.name for row in table.rows if not row.quoted]
    counts, seconds = np.array(names, float), np.array(figures(table, names, SECONDS))
    slope, start = np.polyfit(counts, seconds, 1)
    residual = seconds - (slope * counts + start)
    explained = 1 - residual.var() / max(seconds.var(), 1e-12)
    exponent = np.polyfit(np.log(counts), np.log(seconds), 1)[0]
    return explained >= STRAIGHT and slope > 0, (
        f"{1000 * slope:.1f} s more for 1000 more, a line explains {explained:.1%} of the "
        f"variance, exponent {exponent:.2f}"
    )


def little_difference(table: Table) -> tuple[bool, str]:
    """Return whether all rows are about as good."""
    names = [row.name for row in table.rows if not row.quoted]
    errors = figures(table, names)
    return max(errors) - min(errors) <= LITTLE, (
        f"{METRIC}: {min(errors):.2f} to {max(errors):.2f}; little is {LITTLE} points"
    )


def one_image_suffices(table: Table) -> tuple[bool, str]:
    """Return whether one training image is about as good as the most there are."""
    names = [row.name for row in table.rows if row.name.isdigit()]
    one, most = figures(table, ["1", max(names, key=int)])
    return one - most <= LITTLE, (
        f"{METRIC}: {one:.2f} with one, {most:.2f} with {max(names, key=int)}; little is "
        f"{LITTLE} points"
    )


def oracle_is_far_below(ours: str, oracle: str) -> Callable[[Table], tuple[bool, str]]:
    """Return a rule: the oracle's error is at most half of ours."""

    def rule(table: Table) -> tuple[bool, str]:
        error, best = figures(table, [ours, oracle])
        return best <= FAR * error, f"{METRIC}: oracle {best:.2f}, ours {error:.2f}"

    return rule
