"""Options that several commands share, among them all settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from slanted.cli.help import FIRST, MORE, RecordedCommand, option
from slanted.cli.progress import Report
from slanted.errors import FileError
from slanted.settings import Settings, leaves
from slanted.settings.renames import RENAMED

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.io import Calibration

SHORT = {
    "--min-disparity": "matching.min_disparity",
    "--max-disparity": "matching.max_disparity",
    "--min-confidence": "confidence.min",
    "--max-depth": "space.max_depth",
    "--threads": "threads",
    "--seed": "seed",
    "--network": "matching.network.model",
}
"""Settings with an option of their own; every other one is reached by its dotted name."""
RARE = ("space.max_depth", "threads", "seed", "matching.network.model")
"""Those of them that few need."""
FILES = ("matching.network.model",)
"""Those of them that are files."""
CALIBRATION = "Calibration, for depth and point clouds"
SERVER = "The server"
Command = Callable[..., Any]


class _GivenPath(click.Path):
    """A path that is not empty; pathlib takes an empty one for the current folder."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Refuse an empty text, as of a variable that is not set."""
        if value == "":
            self.fail("expected a path, got an empty one; write . for this folder", param, ctx)
        return super().convert(value, param, ctx)


PATH = _GivenPath(path_type=Path)


def command_line() -> str:
    """Return the current command as it was typed; it must be a `RecordedCommand`."""
    return str(click.get_current_context().meta[RecordedCommand.ARGUMENTS])


def output(default: str | None, text: str, metavar: str = "DIR") -> Callable[..., Any]:
    """Return the option ``--output``."""
    return option("-o", "--output", type=PATH, default=default, metavar=metavar,
                  show_default=default is not None, help=text)  # fmt: skip


def limit(text: str = "Use only the first N frames.", group: str = FIRST) -> Callable[..., Any]:
    """Return the option ``--limit``."""
    return option("--limit", type=click.IntRange(min=1), metavar="N", group=group, help=text)


def split(default: str | None = None, group: str = FIRST) -> Callable[..., Any]:
    """Return the option ``--split``."""
    return option("--split", group=group, default=default, show_default=default is not None,
                  metavar="NAME", help="Split of the dataset, from its split.json; `all` "
                  "for all frames.")  # fmt: skip


def scale(of: str, group: str = FIRST) -> Callable[..., Any]:
    """Return the option that scales an 8-bit disparity map given by another option."""
    return option(f"{of}-scale", type=float, metavar="S", group=group,
                  help=f"For an 8-bit {of}: pixels = value / S.")  # fmt: skip


def workers(text: str) -> Callable[..., Any]:
    """Return the option ``--workers``."""
    return option("--workers", type=click.IntRange(min=1), metavar="N", group=MORE, help=text)


def scheduler(text: str) -> Callable[..., Any]:
    """Return the option ``--scheduler``."""
    return option("--scheduler", metavar="ADDRESS", group=MORE,
                  help=f"{text}, e.g. tcp://host:8786.")  # fmt: skip


def report(command: Command) -> Command:
    """Add ``--json`` and ``--quiet`` to a command, and pass it a ``report``."""

    @wraps(command)
    def with_report(quiet: bool, as_json: bool, **values: Any) -> Any:
        return command(report=Report(quiet=quiet, as_json=as_json), **values)

    return json(
        option("--quiet", is_flag=True, help="Print only warnings and errors.")(with_report)
    )


json = option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")


def settings(
    command: Command,
    more: Mapping[str, str] = MappingProxyType({}),
    preset: str = "default",
) -> Command:
    """Add all settings to a command as options, and pass it the resulting ``settings``.

    Later ones win: preset, file, ``--set``, then named options; ``--network`` also chooses its
    matcher and its preset. `more` are further short options, and `preset` is the default of
    ``--preset``.
    """
    default_preset = preset

    known = {leaf.path: leaf.setting for leaf in leaves(Settings())}
    old = {path: known[new] for path, new in RENAMED.items()}

    @wraps(command)
    def with_settings(
        preset: str,
        settings_file: Path | None,
        changes: tuple[str, ...],
        force: bool,
        **values: Any,
    ) -> Any:
        named = {path: values.pop(_parameter(path)) for path in known | old}
        texts = {"rectification.check": "warn"} if force else {}
        if named["matching.network.model"] is not None:
            texts["matching.method"] = "network"
            preset = preset if _is_typed("preset") else "network"
        settings = Settings.preset(preset)
        if settings_file is not None:
            settings = Settings.load(settings_file, settings)
        texts |= dict(assignments("--set", changes))
        texts |= {path: text for path, text in named.items() if text is not None}
        return command(settings=settings.with_text(texts), **values)

    short = {path: [option] for option, path in {**SHORT, **more}.items()}
    decorated: Command = with_settings
    for path, described in reversed((known | old).items()):
        names = [*short.get(path, ()), f"--{path.replace('_', '-')}", f"--{path}"]
        metavar = "N" if described.kind is int else "FILE" if path in FILES else "VALUE"
        decorated = option(
            *dict.fromkeys(names), _parameter(path), metavar=metavar, help=described.doc,
            hidden=path not in short, shown=names[0], group=MORE if path in RARE else FIRST,
        )(decorated)  # fmt: skip
    return _with_options(decorated, (
        option("--preset", default=default_preset, show_default=True, metavar="NAME",
               help="`fast` takes less time than `default`, `best` more for a lower energy; "
               "`paper` reproduces the publication, with far more errors; `network` suits the "
               "dense map of a network."),
        option("--settings", "settings_file", type=PATH, metavar="FILE", group=MORE,
               help="TOML file with settings that override the preset's."),
        option("--set", "changes", multiple=True, metavar="KEY=VALUE", group=MORE,
               help="Change any setting; `slanted settings` lists them. Repeatable."),
        option("--force", is_flag=True, group=MORE,
               help="Go on with a pair that is not rectified, swapped or of two scenes."),
    ))  # fmt: skip


def _parameter(path: str) -> str:
    return "setting__" + path.replace(".", "__")


def _is_typed(parameter: str) -> bool:
    """Return whether a parameter was given on the command line."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


def calibration(command: Command) -> Command:
    """Add the cameras' calibration to a command, as a file or as numbers."""
    given = partial(option, group=CALIBRATION)
    return _with_options(command, (
        given("--calib", type=PATH, metavar="FILE",
              help="Calibration file (KITTI, Middlebury 2014, ROS or OpenCV YAML)."),
        given("--fx", type=float, metavar="PX", help="Focal length in pixels."),
        given("--baseline", type=float, metavar="M", help="Baseline in metres, with --fx."),
        given("--calib-right", type=PATH, metavar="FILE",
              help="The right camera's file, for ROS camera_info."),
        given("--baseline-unit", type=float, metavar="M",
              help="Metres per unit of an OpenCV --calib, e.g. 0.001 if it is in mm."),
    ))  # fmt: skip


def server(command: Command) -> Command:
    """Add where a page is served, and to whom, to a command."""
    given = partial(option, group=SERVER)
    return _with_options(command, (
        given("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
              help="Address to listen on; any other one lets other machines in."),
        given("--port", type=click.IntRange(0, 65535), metavar="N",
              help="Port to listen on; by default the first free one from 8650, 0 for any free "
              "one."),
        given("--allow-host", multiple=True, metavar="NAME",
              help="A further name by which browsers may reach the server. Repeatable."),
        given("--token/--no-token", default=True,
              help="Let in only who knows the token in the printed address, or everybody who "
              "reaches it."),
        given("--browser/--no-browser", default=True,
              help="Open the page, or only print its address."),
    ))  # fmt: skip


def _with_options(command: Command, options: Sequence[Callable[..., Any]]) -> Command:
    """Add options to a command; ``--help`` lists them in this order."""
    for one in reversed(options):
        command = one(command)
    return command


def assignments(option: str, texts: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Return the key and the value of each KEY=VALUE."""
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals):
            raise click.UsageError(f"{option}: expected key=value, got {text!r}")
        yield key, value


def calibration_source(
    *,
    calib: Path | None,
    calib_right: Path | None,
    baseline_unit: float | None,
    fx: float | None,
    baseline: float | None,
) -> Callable[[tuple[int, int]], Calibration] | None:
    """Return a function from (height, width) to the calibration of the options; None without."""
    from slanted.io import Calibration, read_calibration
    from slanted.io.calibration_files import check_calibration

    if calib is not None:
        if fx is not None or baseline is not None:
            raise click.UsageError("--calib: give either a file or --fx and --baseline, not both")
        unit = 1.0 if baseline_unit is None else baseline_unit
        read, file = read_calibration(calib, calib_right, baseline_unit_meters=unit), calib

        def of_file(size: tuple[int, int]) -> Calibration:
            return check_calibration(file, read, size)

        return of_file
    refuse_without("--calib", {"--calib-right": calib_right, "--baseline-unit": baseline_unit})
    if fx is None and baseline is None:
        return None
    if fx is None or baseline is None:
        raise click.UsageError("--fx, --baseline: expected both, got one; give the other too")
    # Without a principal point, the centre of the image is the best guess.
    guess = Calibration(fx, fx, 0.0, 0.0, baseline)

    def of_numbers(size: tuple[int, int]) -> Calibration:
        height, width = size
        return replace(guess, cx_pixels=(width - 1) / 2, cy_pixels=(height - 1) / 2)

    return of_numbers


def load_calibration(size: tuple[int, int], **values: Any) -> Calibration | None:
    """Return the calibration of the options, or None; `size` is height and width."""
    source = calibration_source(**values)
    return None if source is None else source(size)


def dataset_folder(
    text: str, expected: str = "expected a dataset and its folder as in kitti2015:PATH"
) -> tuple[str, str]:
    """Return the two parts of DATASET:PATH; error messages start with `expected`."""
    name, colon, folder = text.partition(":")
    if not colon or not folder:
        raise click.UsageError(f"{expected}, got {text!r}")
    return name, folder


def refuse_without(needed: str, options: dict[str, Any]) -> None:
    """Refuse options that mean nothing without another one, rather than ignore them."""
    for name, value in options.items():
        if value not in (None, False):
            raise click.UsageError(f"{name}: means nothing without {needed}; give both or neither")


def refuse_both(workers: int | None, scheduler: str | None) -> None:
    """Refuse ``--workers`` together with ``--scheduler``."""
    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers, --scheduler: give one; Dask knows its own workers")


def check_file(output: Path, suffix: str) -> None:
    """Refuse an ``--output`` that is not the name of a file with this suffix."""
    if output.suffix != suffix:
        raise click.UsageError(f"--output: expected a name that ends in {suffix}, got {output}")
    if output.is_dir():
        raise click.UsageError(f"--output: expected a file, but {output} is a folder; add a name")


def given_threshold(settings: Settings) -> float | None:
    """Return the threshold of confidence that the user gave, even if it is 0; None without one."""
    is_given = _is_typed(_parameter("confidence.min"))
    return settings.confidence.min if is_given or settings.confidence.min > 0 else None


def read_pair(left: Path, right: Path) -> tuple[tuple[Image, Image], tuple[str, str]]:
    """Return the two images, and their names for messages."""
    from slanted.images.checks import check_pair

    names = str(left), str(right)
    return check_pair(left, right, names), names


def check_size(file: Path | None, array: Any, image: Any) -> None:
    """Refuse a file whose array is not of the left image's size."""
    from slanted.images.checks import size_text

    if file is not None and array.shape != image.shape[:2]:
        raise FileError(
            file, f"expected the size of the left image, {size_text(image)}, got {size_text(array)}"
        )
