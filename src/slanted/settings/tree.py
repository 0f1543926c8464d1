"""The root of the settings tree: presets, TOML, and changes by path."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from inspect import cleandoc
from pathlib import Path
from typing import Any, Self

from slanted.errors import SettingsError, did_you_mean, meant, nearest
from slanted.settings.confidence import ConfidenceSettings
from slanted.settings.fields import Section, Setting, parse_text, setting, shortened, toml_value
from slanted.settings.inference import InferenceSettings
from slanted.settings.learning import LearningSettings
from slanted.settings.matching import MatchingSettings, RectificationSettings
from slanted.settings.model import ModelSettings
from slanted.settings.refinement import RefinementSettings
from slanted.settings.renames import FORMER, current_names
from slanted.settings.segmentation import SegmentationSettings
from slanted.settings.space import SpaceSettings
from slanted.settings.tiles import TilesSettings

ORIGIN = "learned"
"""A table in files of learned weights that says how they were made; it holds no settings."""
FORMERLY = {
    "space.max_depth": None,
    "matching.census.guided": False,
    "model.coarser": 1,
    "segmentation.slic.coarse_iterations": 0,
    "inference.last_sweeps": None,
}
"""Settings that older versions did not have, as these versions were."""
PRESETS = resources.files("slanted.settings") / "presets"


@dataclass(frozen=True)
class Settings(Section):
    """All settings; ``Settings()`` has the values of the preset ``default``.

    Examples
    --------
    >>> import slanted
    >>> settings = slanted.Settings().with_text({"segmentation.count": "500"})
    >>> settings.segmentation.count
    500
    >>> slanted.Settings.preset("fast") == slanted.Settings()
    False
    """

    seed: int = setting(0, low=0, high=2**32 - 1, doc="Random choices depend on this seed alone.")
    threads: int | None = setting(
        None,
        low=1,
        high=1024,
        doc="This many threads are used; auto is all cores. Results do not depend on it.",
    )
    fsync: bool = setting(
        True,
        doc="Files of a result are on the disk before they replace an earlier one, so that a power "
        "failure leaves no torn file; false is faster on slow disks. Results do not depend on it.",
    )
    rectification: RectificationSettings = dataclasses.field(default_factory=RectificationSettings)
    matching: MatchingSettings = dataclasses.field(default_factory=MatchingSettings)
    segmentation: SegmentationSettings = dataclasses.field(default_factory=SegmentationSettings)
    model: ModelSettings = dataclasses.field(default_factory=ModelSettings)
    inference: InferenceSettings = dataclasses.field(default_factory=InferenceSettings)
    refinement: RefinementSettings = dataclasses.field(default_factory=RefinementSettings)
    confidence: ConfidenceSettings = dataclasses.field(default_factory=ConfidenceSettings)
    space: SpaceSettings = dataclasses.field(default_factory=SpaceSettings)
    tiles: TilesSettings = dataclasses.field(default_factory=TilesSettings)
    learning: LearningSettings = dataclasses.field(default_factory=LearningSettings)

    @classmethod
    def preset(cls, name: str) -> Self:
        """Load a named preset."""
        if name not in preset_names():
            hint = did_you_mean(str(name), preset_names())
            raise SettingsError(
                f"preset: expected one of {', '.join(preset_names())}, got {name!r}{hint}"
            )
        return cls().updated(_preset_values(name))

    @classmethod
    def load(cls, path: Path | str, base: Self | None = None) -> Self:
        """Read a TOML file; settings it does not name keep the values of `base` (or defaults)."""
        from slanted.io.texts import read_toml

        tree = read_toml(path)
        tree.pop(ORIGIN, None)
        start = base or cls()
        try:
            return start._with(dict(_by_path(start, tree)), source=str(path))
        except SettingsError as error:
            raise SettingsError(f"{path}: {error}") from error

    def save(self, path: Path | str) -> None:
        """Write all settings as TOML."""
        from slanted.io.files import write_bytes

        write_bytes(path, self.to_toml().encode())

    def to_toml(self, *, documented: bool = False) -> str:
        """Return the settings as TOML; `documented` adds each one's documentation as a comment."""
        return _toml(leaves(self), documented=documented)

    def identity(self) -> str:
        """Return text that is equal for equal settings, even after settings are renamed.

        It is TOML with the settings' original names, without `fsync`, and without others that older
        versions did not have where they are as these versions were, so that digests written by them
        still match.
        """
        named = (dataclasses.replace(x, path=FORMER.get(x.path, x.path)) for x in leaves(self))
        new = {"fsync": self.fsync, **FORMERLY}
        return _toml(leaf for leaf in named if leaf.path not in new or leaf.value != new[leaf.path])

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with other values, by dotted name or as nested as in TOML.

        All are set at once, so that settings that limit each other can change together.

        Examples
        --------
        >>> import slanted
        >>> changes = {"matching.max_disparity": 96, "segmentation": {"count": 500}}
        >>> slanted.Settings().updated(changes).matching.max_disparity
        96
        >>> slanted.Settings().updated({"matching.max_disparty": 96})
        Traceback (most recent call last):
        slanted.errors.SettingsError: matching.max_disparty: unknown setting; did you mean ...?
        """
        return self._with(dict(_by_path(self, changes)))

    def with_text(self, values: Mapping[str, str]) -> Self:
        """Return a copy with values set from text, as in ``--set path=text``.

        All are set at once, so that settings that limit each other can change together.
        """
        texts = current_names(values)
        known = self._known(texts)
        return self._with({path: parse_text(path, known[path], texts[path]) for path in texts})

    def _with(self, values: Mapping[str, Any], source: str = "") -> Self:
        """Return a copy with values by path; a warning about old names mentions the source."""
        if not values:
            return self
        values = current_names(values, source)
        self._known(values)
        changed: Self = _replaced(self, values, "")
        return changed

    def _known(self, paths: Iterable[str]) -> dict[str, Setting]:
        """Return the description of every setting, or refuse a path that is not one of them."""
        known = {leaf.path: leaf.setting for leaf in leaves(self)}
        for path in paths:
            if path not in known:
                raise SettingsError(unknown_setting(path, known))
        return known


@dataclass(frozen=True)
class Leaf:
    """One setting in the tree: its dotted path, its description and its value."""

    path: str
    setting: Setting
    value: Any
    section_doc: str

    @property
    def section(self) -> str:
        """Dotted path of its section; empty at the root."""
        return self.path.rpartition(".")[0]

    @property
    def name(self) -> str:
        """Its name inside its section."""
        return self.path.rpartition(".")[2]


def leaves(section: Section, prefix: str = "") -> Iterator[Leaf]:
    """Walk the tree in order of definition."""
    for field in dataclasses.fields(section):  # type: ignore[arg-type]
        value = getattr(section, field.name)
        if isinstance(value, Section):
            yield from leaves(value, f"{prefix}{field.name}.")
        else:
            doc = _section_doc(type(section).__doc__ or "")
            yield Leaf(prefix + field.name, field.metadata["setting"], value, doc)


@cache
def _section_doc(doc: str) -> str:
    return cleandoc(doc).partition("\n\nExamples\n")[0]


@cache
def _preset_values(name: str) -> dict[str, Any]:
    return tomllib.loads((PRESETS / f"{name}.toml").read_text("utf-8"))


def preset_names() -> tuple[str, ...]:
    """Return the names of the presets that ship with slanted."""
    names = (Path(file.name) for file in PRESETS.iterdir())
    return tuple(sorted(name.stem for name in names if name.suffix == ".toml"))


def unknown_setting(path: str, known: Iterable[str]) -> str:
    """Return a message that there is no such setting, with the likely intended one."""
    hint = meant(nearest_setting(path, known), "`slanted settings` lists all")
    return f"{path}: unknown setting{hint}"


def _unknown_table(path: str) -> str:
    """Return a message that there is no such table of settings, with the likely intended one."""
    tables = sorted({leaf.section for leaf in leaves(Settings())} - {""})
    hint = meant(nearest_setting(path, tables), f"expected one of {', '.join(tables)}")
    return f"{path}: unknown table of settings{hint}"


def nearest_setting(path: str, known: Iterable[str]) -> str | None:
    """Return the setting that a misspelt path, or a name without its section, stands for.

    A right name in a wrong section is nearer than a similar name in the same.
    """
    paths, name = sorted(known), path.rpartition(".")[2]
    same = [each for each in paths if each.rpartition(".")[2] == name]
    return nearest(path, same or paths, 0 if same else 0.5)


def _toml(settings: Iterable[Leaf], *, documented: bool = False) -> str:
    lines: list[str] = []
    section = ""
    for leaf in settings:
        if leaf.section != section:
            section = leaf.section
            lines += ["", f"[{section}]"] if lines else [f"[{section}]"]
        if documented:
            lines.append(f"# {leaf.setting.describe()}")
        lines.append(f"{leaf.name} = {toml_value(leaf.value)}")
    return "\n".join(lines) + "\n"


def _by_path(
    section: Section, tree: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Walk a mapping, nested or with dotted keys, along the sections; yield values by path."""
    for key, value in tree.items():
        if not isinstance(key, str):
            raise SettingsError(f"{prefix or 'settings'}: expected names as keys, got {key!r}")
        inner: Any = section
        for name in key.split("."):
            inner = getattr(inner, name, None) if isinstance(inner, Section) else None
        path = prefix + key
        if not isinstance(inner, Section):
            if isinstance(value, Mapping) and not hasattr(section, key):
                raise SettingsError(_unknown_table(path))
            yield path, value
        elif isinstance(value, Mapping):
            yield from _by_path(inner, value, path + ".")
        else:
            raise SettingsError(f"{path}: expected a table of settings, got {shortened(value)}")


def _replaced(section: Any, values: Mapping[str, Any], prefix: str) -> Any:
    """Return a copy of a section with the values that belong to it."""
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(section):
        path, current = prefix + field.name, getattr(section, field.name)
        if isinstance(current, Section):
            inner = _replaced(current, values, path + ".")
            if inner is not current:
                changes[field.name] = inner
        elif path in values:
            changes[field.name] = values[path]
    try:
        return section if not changes else dataclasses.replace(section, **changes)
    except SettingsError as error:  # it names only the field: a section does not know its path
        raise SettingsError(prefix + str(error)) from None
