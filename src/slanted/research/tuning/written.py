"""The settings file that a search ends with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from slanted import __version__
from slanted.research.tuning.search_space import WITHOUT_EFFECT
from slanted.settings import Leaf, Settings, leaves
from slanted.settings.fields import toml_value

if TYPE_CHECKING:
    from slanted.research.tuning.halving import Standing
    from slanted.research.tuning.search import Tuning


def write_settings(path: Path | str, tuning: Tuning, notes: Sequence[str] = ()) -> None:
    """Write the winner as TOML, for ``--settings``.

    It holds the settings that varied, and any other in which the winner differs from the defaults,
    so that the file over the preset ``default`` gives the winner itself.

    Parameters
    ----------
    path
        The file.
    tuning
        What the search found.
    notes
        Lines on where it comes from, such as the command, written as comments.
    """
    from slanted.io.files import write_bytes

    pairs = len(tuning.rungs[-1].pairs)
    head = [
        f"Found by slanted {__version__}, seed {tuning.winner.candidate.settings.seed}.",
        *notes,
        f"On {pairs} pair{'' if pairs == 1 else 's'}: {_scores(tuning.winner)}; before: "
        f"{_scores(tuning.start)}.",
    ]
    lines = [f"# {' '.join(line.split())}" for line in head]
    default = {leaf.path: leaf.value for leaf in leaves(Settings())}
    chosen = [
        leaf
        for leaf in leaves(tuning.winner.candidate.settings)
        if (leaf.path in tuning.paths or leaf.value != default[leaf.path])
        and not leaf.path.startswith(WITHOUT_EFFECT)
    ]
    for section, group in groupby(chosen, key=_section):
        lines += ["", f"[{section}]"] if section else [""]
        lines += [f"{leaf.path.rpartition('.')[2]} = {toml_value(leaf.value)}" for leaf in group]
    write_bytes(path, ("\n".join(lines) + "\n").encode())


def _section(leaf: Leaf) -> str:
    return leaf.path.rpartition(".")[0]


def _scores(standing: Standing) -> str:
    each = ", ".join(f"{name} {mean:.4f}" for name, mean in standing.means.items())
    return f"score {standing.score:.4f} ({each}; {standing.seconds:.2f} s a pair)"
