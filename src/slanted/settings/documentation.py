"""The reference of all settings, as Markdown: ``python -m slanted.settings.documentation``."""

from __future__ import annotations

from itertools import groupby

from slanted.settings import Leaf, Settings, leaves, preset_names
from slanted.settings.fields import toml_value
from slanted.settings.renames import RENAMED

HEAD = """# Settings

This page is written by `python -m slanted.settings.documentation` from `src/slanted/settings/`; do
not edit it.

Give settings as `--set matching.method=sgbm`, as `--matching.method sgbm`, or in a TOML file with
`--settings FILE` (`slanted settings > mine.toml` writes one to start from). Later ones win, in the
order preset, file, `--set`, option. `auto` lets slanted choose. The presets show only values that
differ from the default.
"""
RENAMES = """## Old names

These still work, with a warning.

| old name | name |
|---|---|"""


def settings_page() -> str:
    """Return the page: a table for each section, presets side by side where they differ."""
    others = [name for name in preset_names() if name != "default"]
    presets = {name: _values(Settings.preset(name)) for name in ("default", *others)}
    columns = ["setting", *presets, "meaning"]
    head = f"| {' | '.join(columns)} |\n" + "|---" * len(columns) + "|"
    parts = [HEAD]
    for section, group in groupby(leaves(Settings()), key=lambda leaf: leaf.section):
        settings = list(group)
        parts.append(f"## {section or 'Top level'}\n\n{settings[0].section_doc}\n")
        parts.append("\n".join([head, *(_row(leaf, presets) for leaf in settings)]) + "\n")
    rows = [f"| `{old}` | `{new}` |" for old, new in RENAMED.items()]
    return "\n".join([*parts, RENAMES, *rows]) + "\n"


def _values(settings: Settings) -> dict[str, str]:
    return {leaf.path: toml_value(leaf.value).strip('"') for leaf in leaves(settings)}


def _row(leaf: Leaf, presets: dict[str, dict[str, str]]) -> str:
    default, *others = (presets[name][leaf.path] for name in presets)
    cells = ["" if value == default else f"`{value}`" for value in others]
    meaning = leaf.setting.describe().replace("|", "\\|")
    return " | ".join([f"| `{leaf.path}`", f"`{default}`", *cells, f"{meaning} |"])


if __name__ == "__main__":
    import sys

    sys.stdout.write(settings_page())
