"""The paper's qualitative findings as claims to check against our tables (§4).

Every claim that is the paper's also holds for the paper's own numbers, as a test checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slanted.research.experiments.data import MAIN, METRIC, VALIDATION, Part
from slanted.research.experiments.jobs.frames import INFERENCE, PER_SWEEP, SEGMENTS, SWEEPS
from slanted.research.experiments.outcome import Finding
from slanted.research.experiments.tables import Table

Rule = Callable[[Table], tuple[bool, str]]
"""Returns whether a table supports a claim, and the numbers that decide."""
NEARLY = 0.9
"""Fraction of a gain that counts as nearly all of it."""
LITTLE = 0.15
"""Points of out-3px that matter little. In the paper, losses differ by 0.03, and one training image
is 0.11 from more."""
CURVED = 0.2
"""Largest fraction of the time a quadratic term may take, at the most superpixels."""
FAR = 0.5
"""Fraction of our error below which the oracle's error counts as far below it."""


@dataclass(frozen=True)
class Claim:
    """A statement, and the rule that checks it against the table of a part."""

    statement: str
    rule: Rule
    part: Part = VALIDATION

    def check(self, tables: Mapping[str, Table]) -> Finding:
        """Return whether the claim holds, or unknown if its numbers are missing."""
        key = self.part.key
        statement = f"{self.part.dataset}: {self.statement}"
        try:
            table = tables[key]
            holds, evidence = self.rule(table)
        except LookupError:
            return Finding(statement, None, f"the figures of {key} are missing")
        return Finding(statement, bool(holds), f"{key}, {table.over}; {evidence}")


def figures(table: Table, rows: Sequence[str], metric: str = METRIC) -> list[float]:
    """Return a column's numbers for some rows; a LookupError if one is missing or none is given."""
    found = [table.cell(row, metric) for row in rows]
    if not found or None in found:
        raise LookupError(metric)
    return [float(cell) for cell in found if cell is not None]


def in_order(rows: Sequence[str], metric: str = f"{MAIN}-noc") -> Rule:
    """Return the rule that each row's error is below the next one's."""

    def rule(table: Table) -> tuple[bool, str]:
        errors = figures(table, rows, metric)
        text = ", ".join(f"{name} {error:.2f}" for name, error in zip(rows, errors, strict=True))
        return bool(np.all(np.diff(errors) > 0)), f"{metric}: {text}"

    return rule


def below_all(row: str, others: Sequence[str]) -> Rule:
    """Return the rule that a row's errors are below those of all others in the table."""

    def rule(table: Table) -> tuple[bool, str]:
        names = [r.name for r in table.rows if r.name in others]
        metrics = [column for column in table.columns if column.startswith("out-")]
        ours = np.array([figures(table, [row], metric)[0] for metric in metrics])
        theirs = np.array([figures(table, names, metric) for metric in metrics])
        won = int((ours[:, None] < theirs).all(axis=1).sum())
        main = metrics.index(METRIC)
        best = int(np.argmin(theirs[main]))
        return won == len(metrics), (
            f"ahead in {won} of {len(metrics)} columns; {METRIC}: {ours[main]:.2f}, best of "
            f"{len(names)} others {theirs[main, best]:.2f} ({names[best]})"
        )

    return rule


def two_draws_suffice(table: Table) -> tuple[bool, str]:
    """Check that two draws gain nearly as much as five, compared with none."""
    none, two, five = figures(table, ["0", "2", "5"])
    text = f"{METRIC}: {none:.2f} without, {two:.2f} after two, {five:.2f} after five draws"
    if five >= none:
        return False, f"{text}; there is no gain"
    share = (none - two) / (none - five)
    return share >= NEARLY, f"{text}; two have {share:.0%} of the gain"


def time_is_linear(table: Table) -> tuple[bool, str]:
    """Check that the time of inference grows with the number of superpixels, and no faster.

    It does not if more superpixels take more sweeps to converge; the evidence then says so.
    """
    names = _measured(table)
    counts, seconds = figures(table, names, SEGMENTS), figures(table, names, INFERENCE)
    holds, text = _linear("inference", "s", counts, seconds)
    try:
        sweeps = figures(table, names, SWEEPS)
    except LookupError:
        return holds, text
    few, many = sweeps[int(np.argmin(counts))], sweeps[int(np.argmax(counts))]
    if not holds and many > few:
        text += f"; sweeps until convergence grow too, from {few:.0f} to {many:.0f}"
    return holds, text


def sweep_time_is_linear(table: Table) -> tuple[bool, str]:
    """Check that the time of one sweep grows with the number of superpixels, and no faster."""
    names = _measured(table)
    counts, each = figures(table, names, SEGMENTS), figures(table, names, PER_SWEEP)
    times = [count * one / 1000 for count, one in zip(counts, each, strict=True)]
    holds, text = _linear("a sweep", "ms", counts, times)
    return holds, f"{text}; {min(each):.1f} to {max(each):.1f} µs for each sweep and segment"


def _linear(
    what: str, unit: str, counts: Sequence[float], times: Sequence[float]
) -> tuple[bool, str]:
    """Return whether times grow in proportion to counts, and a fitted curve in words."""
    curve, slope, start = np.polyfit(counts, times, 2)
    last = int(np.argmax(counts))
    share = curve * counts[last] ** 2 / times[last]
    line, _ = np.polyfit(counts, times, 1)
    return bool(abs(share) <= CURVED and line > 0), (
        f"{what} takes {start:.2f} {unit} + {1000 * slope:.2f} {unit} for 1000 superpixels; the "
        f"quadratic term is {share:.0%} of the time at {counts[last]:.0f}"
    )


def errors_fall(between: str) -> Rule:
    """Return the rule that errors fall from the fewest superpixels to `between` to the most."""

    def rule(table: Table) -> tuple[bool, str]:
        names = sorted(_measured(table), key=int)
        errors = dict(zip(names, figures(table, names), strict=True))
        chosen = [names[0], between, names[-1]]
        text = ", ".join(f"{errors[name]:.2f} with {name}" for name in chosen)
        least = min(names, key=lambda name: errors[name])
        falls = errors[chosen[0]] > errors[chosen[1]] > errors[chosen[2]]
        return falls, f"{METRIC}: {text}; least {errors[least]:.2f} with {least}"

    return rule


def _measured(table: Table) -> list[str]:
    """Return the names of the rows that are ours."""
    return [row.name for row in table.rows if not row.quoted]


def little_difference(most: float) -> Rule:
    """Return the rule that no two rows differ by more than `most` points."""

    def rule(table: Table) -> tuple[bool, str]:
        errors = figures(table, _measured(table))
        if len(errors) < 2:
            raise LookupError("rows")
        return max(errors) - min(errors) <= most, (
            f"{METRIC}: {min(errors):.2f} to {max(errors):.2f}; little is {most:.2f} points"
        )

    return rule


def one_image_suffices(table: Table) -> tuple[bool, str]:
    """Check that one training image is about as good as the most there are."""
    sizes = [row.name for row in table.rows if row.name.isdigit()]
    most = max(sizes, key=int, default="")
    if len(sizes) < 2:
        raise LookupError("sizes")
    one, many = figures(table, ["1", most])
    return one - many <= LITTLE, (
        f"{METRIC}: {one:.2f} with one, {many:.2f} with {most}; little is {LITTLE} points"
    )


def oracle_is_far_below(ours: str, oracle: str) -> Rule:
    """Return the rule that the oracle's error is at most half of ours."""

    def rule(table: Table) -> tuple[bool, str]:
        error, best = figures(table, [ours, oracle])
        return best <= FAR * error, f"{METRIC}: oracle {best:.2f}, ours {error:.2f}"

    return rule
