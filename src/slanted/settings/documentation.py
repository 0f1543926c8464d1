"""The reference of all settings, as Markdown: ``python -m slanted.settings.documentation``."""

from __future__ import annotations

from itertools import groupby

from slanted.settings import Leaf, Settings, leaves, preset_names
from slanted.settings.fields import toml_value

HEAD = """# Settings

Written by `python -m slanted.settings.documentation` from `src/slanted/settings/`; do not edit.

Give them as `--set matching.method=sgbm`, as `--matching.method sgbm`, or in a TOML file with
`--settings FILE` (`slanted settings > mine.toml` makes one to start from). Later wins: preset,
file, `--set`, option. `auto` lets slanted choose.
"""


def settings_page() -> str:
    """Return the page: a table for each section, presets side by side where they differ."""
    others = [name for name in preset_names() if name != "default"]
    presets = {name: _values(Settings.preset(name)) for name in ("default", *others)}
    parts = [HEAD]
    for (section, doc), group in groupby(leaves(Settings()), key=_section):
        parts.append(f"## {section or 'Top level'}\n\n{doc.splitlines()[0]}\n")
        rows = [_row(leaf, presets) for leaf in group]
        names = ["setting", *presets, "meaning"]
        head = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
        parts.append("\n".join([*head, *rows]) + "\n")
    return "\n".join(parts)


def _section(leaf: Leaf) -> tuple[str, str]:
    return leaf.path.rpartition(".")[0], leaf.section_doc


def _values(settings: Settings) -> dict[str, str]:
    return {leaf.path: toml_value(leaf.value).strip('"') for leaf in leaves(settings)}


def _row(leaf: Leaf, presets: dict[str, dict[str, str]]) -> str:
    default, *others = (presets[name][leaf.path] for name in presets)
    cells = ["" if value == default else f"`{value}`" for value in others]
    return " | ".join([f"| `{leaf.path}`", f"`{default}`", *cells, f"{leaf.setting.describe()} |"])


if __name__ == "__main__":
    import sys

    sys.stdout.write(settings_page())
