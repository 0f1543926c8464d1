"""Every parameter of slanted, in one tree.

The tree is the library's argument, the TOML file, the command line (``--set matching.method=sgbm``)
and the reference in ``docs/settings.md``: a parameter is written down once, with its unit, in
`slanted.settings.sections`. Sections check themselves, so a ``Settings`` that exists is valid.

Presets are TOML files in ``slanted/settings/presets``: ``fast``, ``default`` and ``best`` are
points on the curve of accuracy over time, ``paper`` follows the publication.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Self

from slanted.errors import SettingsError
from slanted.settings.fields import Section, Setting, parse_text, setting, toml_value
from slanted.settings.learning import LearningSettings
from slanted.settings.matching import MatchingSettings
from slanted.settings.refinement import RefinementSettings
from slanted.settings.sections import (
    InferenceSettings,
    ModelSettings,
    RectificationSettings,
    SegmentationSettings,
    TilesSettings,
)

ORIGIN = "learned"
"""The table in which files of learned weights tell how they were made; no settings."""


@dataclass(frozen=True)
class Settings(Section):
    """All settings; ``Settings()`` is the preset ``default``.

    Examples
    --------
    >>> import slanted
    >>> settings = slanted.Settings().with_text({"segmentation.count": "500"})
    >>> settings.segmentation.count
    500
    >>> slanted.Settings.preset("fast") == slanted.Settings()
    False
    """

    seed: int = setting(0, "Seed of every random choice.", low=0, high=2**32 - 1)
    threads: int | None = setting(
        None, "Threads to use; auto = all cores. Results do not depend on it.", low=1, high=1024
    )
    rectification: RectificationSettings = dataclasses.field(default_factory=RectificationSettings)
    matching: MatchingSettings = dataclasses.field(default_factory=MatchingSettings)
    segmentation: SegmentationSettings = dataclasses.field(default_factory=SegmentationSettings)
    model: ModelSettings = dataclasses.field(default_factory=ModelSettings)
    inference: InferenceSettings = dataclasses.field(default_factory=InferenceSettings)
    refinement: RefinementSettings = dataclasses.field(default_factory=RefinementSettings)
    tiles: TilesSettings = dataclasses.field(default_factory=TilesSettings)
    learning: LearningSettings = dataclasses.field(default_factory=LearningSettings)

    @classmethod
    def preset(cls, name: str) -> Self:
        """Load a named preset."""
        if name not in preset_names():
            raise SettingsError(
                f"preset: expected one of {', '.join(preset_names())}, got {name!r}"
            )
        text = (resources.files("slanted.settings") / "presets" / f"{name}.toml").read_text("utf-8")
        return cls().updated(tomllib.loads(text))

    @classmethod
    def load(cls, path: Path | str, base: Self | None = None) -> Self:
        """Read a TOML file; what it does not name stays as in `base` (by default the defaults)."""
        from slanted.io.texts import read_toml

        tree = read_toml(path)
        tree.pop(ORIGIN, None)
        try:
            return (base or cls()).updated(tree)
        except SettingsError as error:
            raise SettingsError(f"{path}: {error}") from error

    def save(self, path: Path | str) -> None:
        """Write all settings as TOML."""
        from slanted.io.files import write_bytes

        write_bytes(path, self.to_toml().encode())

    def to_toml(self, *, documented: bool = False) -> str:
        """Return the tree as TOML text, with each field's documentation as comments if asked."""
        lines: list[str] = []
        section = ""
        for leaf in leaves(self):
            parent, _, name = leaf.path.rpartition(".")
            if parent != section:
                section = parent
                lines += ["", f"[{section}]"] if lines else [f"[{section}]"]
            if documented:
                lines.append(f"# {leaf.setting.describe()}")
            lines.append(f"{name} = {toml_value(leaf.value)}")
        return "\n".join(lines) + "\n"

    def updated(self, tree: Mapping[str, Any]) -> Self:
        """Return a copy with the values of a nested mapping, as it comes from TOML."""
        updated: Self = _updated(self, tree, "")
        return updated

    def with_text(self, values: Mapping[str, str]) -> Self:
        """Return a copy with values set from text, as in ``--set path=text``.

        All are set at once, so that settings that bound one another can change together.
        """
        known = {leaf.path: leaf.setting for leaf in leaves(self)}
        tree: dict[str, Any] = {}
        for path, text in values.items():
            if path not in known:
                raise SettingsError(unknown_setting(path, known))
            *sections, name = path.split(".")
            node = tree
            for section in sections:
                node = node.setdefault(section, {})
            node[name] = parse_text(path, known[path], text)
        return self.updated(tree)


@dataclass(frozen=True)
class Leaf:
    """One setting in the tree: its dotted path, its description and its value."""

    path: str
    setting: Setting
    value: Any
    section_doc: str


def leaves(section: Section, prefix: str = "") -> Iterator[Leaf]:
    """Walk the tree in order of definition."""
    doc = (type(section).__doc__ or "").strip()
    for field in dataclasses.fields(section):  # type: ignore[arg-type]
        value = getattr(section, field.name)
        if isinstance(value, Section):
            yield from leaves(value, f"{prefix}{field.name}.")
        else:
            yield Leaf(prefix + field.name, field.metadata["setting"], value, doc)


def preset_names() -> tuple[str, ...]:
    """Return the names of the presets that ship with slanted."""
    files = (resources.files("slanted.settings") / "presets").iterdir()
    return tuple(sorted(Path(f.name).stem for f in files if f.name.endswith(".toml")))


def _updated(section: Any, tree: Mapping[str, Any], prefix: str) -> Any:
    changes: dict[str, Any] = {}
    fields = {field.name for field in dataclasses.fields(section)}
    for key, value in tree.items():
        path = prefix + key
        if key not in fields:
            raise SettingsError(unknown_setting(path, {prefix + name for name in fields}))
        current = getattr(section, key)
        if not isinstance(current, Section):
            changes[key] = value
        elif isinstance(value, Mapping):
            changes[key] = _updated(current, value, path + ".")
        else:
            raise SettingsError(f"{path}: expected a table of settings, got {value!r}")
    try:
        return dataclasses.replace(section, **changes)
    except SettingsError as error:
        # A section does not know where it hangs in the tree: say it here, once.
        message = str(error)
        raise SettingsError(message if message.startswith(prefix) else prefix + message) from None


def unknown_setting(path: str, known: Any) -> str:
    """Say that there is no such setting, and which of the known ones may be meant."""
    import difflib

    near = difflib.get_close_matches(path, sorted(known), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else "; `slanted settings` lists all"
    return f"{path}: unknown setting{hint}"
