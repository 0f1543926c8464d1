"""Options that several commands share, and the settings tree as options."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.errors import FileError, SlantedWarning
from slanted.settings import Settings, leaves
from slanted.settings.renames import RENAMED

if TYPE_CHECKING:
    from slanted.io import Calibration

SHORT = {"--max-disparity": "matching.max_disparity", "--threads": "threads", "--seed": "seed"}
"""Settings that have an option of their own; every other one is reached by its dotted name."""

PathArgument = click.Path(path_type=Path)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all settings as options, and pass it a ready ``settings``.

    Later wins: preset, file, ``--set``, then options by name.
    """
    known = {leaf.path: leaf.setting for leaf in leaves(Settings())}
    old = {path: known[new] for path, new in RENAMED.items()}

    @functools.wraps(command)
    def with_settings(
        preset: str, settings_file: Path | None, assignments: tuple[str, ...], **options: Any
    ) -> Any:
        settings = Settings.preset(preset)
        if settings_file is not None:
            settings = Settings.load(settings_file, settings)
        texts: dict[str, str] = {}
        for assignment in assignments:
            path, equals, text = assignment.partition("=")
            if not equals:
                raise click.UsageError(f"--set: expected key=value, got {assignment!r}")
            texts[path.strip()] = text.strip()
        named = {path: options.pop(_parameter(path)) for path in known | old}
        texts |= {path: text for path, text in named.items() if text is not None}
        return command(settings=settings.with_text(texts), **options)

    short = {path: option for option, path in SHORT.items()}
    decorated: Callable[..., Any] = with_settings
    for path, described in reversed((known | old).items()):
        names = [f"--{path.replace('_', '-')}", f"--{path}"]
        names += [short[path]] if path in short else []
        decorated = click.option(
            *dict.fromkeys(names),
            _parameter(path),
            metavar="N" if described.kind is int else "VALUE",
            help=described.doc,
            hidden=path not in short,
        )(decorated)
    for option in (
        click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE",
                     help="Change any setting; `slanted settings` lists them. Repeatable."),
        click.option("--settings", "settings_file", type=PathArgument, metavar="FILE",
                     help="Settings as TOML, laid over the preset."),
        click.option("--preset", default="default", show_default=True, metavar="NAME",
                     help="`fast` takes less time than `default`, `best` more for a lower energy; "
                     "`paper` reproduces the publication, with far more errors."),
    ):  # fmt: skip
        decorated = option(decorated)
    return decorated


def _parameter(path: str) -> str:
    return "setting__" + path.replace(".", "__")


def calibration_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the camera's calibration, as a file or as numbers."""
    for option in (
        click.option("--baseline-unit", type=float, metavar="M",
                     help="Metres per unit of an OpenCV --calib, e.g. 0.001 if it is in mm."),
        click.option("--calib-right", type=PathArgument, metavar="FILE",
                     help="The right camera's file, for ROS camera_info."),
        click.option("--baseline", type=float, metavar="M", help="Baseline in metres, with --fx."),
        click.option("--fx", type=float, metavar="PX", help="Focal length in pixels."),
        click.option("--calib", type=PathArgument, metavar="FILE",
                     help="Calibration (KITTI, Middlebury 2014, ROS or OpenCV YAML): adds depth "
                     "and a point cloud."),
    ):  # fmt: skip
        command = option(command)
    return command


def load_calibration(
    size: tuple[int, int],
    *,
    calib: Path | None,
    calib_right: Path | None,
    baseline_unit: float | None,
    fx: float | None,
    baseline: float | None,
) -> Calibration | None:
    """Return the calibration of the options, or None; `size` is height and width."""
    from slanted.io import Calibration, read_calibration

    height, width = size
    if calib is not None:
        if fx is not None or baseline is not None:
            raise click.UsageError("--calib: give either a file or --fx and --baseline, not both")
        unit = 1.0 if baseline_unit is None else baseline_unit
        calibration = read_calibration(calib, calib_right, baseline_unit_meters=unit)
        if calibration.image_size not in (None, (width, height)):
            across, down = calibration.image_size
            raise FileError(
                calib,
                f"expected the calibration of images of {width}×{height} pixels, got that of "
                f"{across}×{down}; scale it with the images, or give --fx and --baseline",
            )
        x, y = calibration.cx_pixels, calibration.cy_pixels
        if abs(x - width / 2) > width / 4 or abs(y - height / 2) > height / 4:
            warnings.warn(
                f"{calib}: its principal point ({x:.0f}, {y:.0f}) is far from the centre of images "
                f"of {width}×{height} pixels; if they were scaled, scale the calibration with them",
                SlantedWarning,
                stacklevel=2,
            )
        return calibration
    refuse_without("--calib", {"--calib-right": calib_right, "--baseline-unit": baseline_unit})
    if fx is None and baseline is None:
        return None
    if fx is None or baseline is None:
        raise click.UsageError("--fx, --baseline: expected both, got one; give the other too")
    # Without a principal point the image's centre is the best guess.
    return Calibration(fx, fx, (width - 1) / 2, (height - 1) / 2, baseline)


def dataset_folder(
    text: str, expected: str = "expected a dataset and its folder as in kitti2015:PATH"
) -> tuple[str, str]:
    """Return the two parts of DATASET:PATH; an error starts with what was expected."""
    name, colon, folder = text.partition(":")
    if not colon or not folder:
        raise click.UsageError(f"{expected}, got {text!r}")
    return name, folder


def refuse_without(needed: str, options: dict[str, Any]) -> None:
    """Refuse options that mean nothing without another one, rather than ignore them."""
    for name, value in options.items():
        if value not in (None, False):
            raise click.UsageError(f"{name}: means nothing without {needed}; give both or neither")


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--json`` and ``--quiet``."""
    command = click.option("--quiet", is_flag=True, help="Print only warnings and errors.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")(
        command
    )


def check_size(file: Path | None, array: Any, image: Any) -> None:
    """Refuse a file whose array is not of the left image's size."""
    from slanted.images.checks import size_text

    if file is not None and array.shape != image.shape[:2]:
        raise FileError(
            file, f"expected the size of the left image, {size_text(image)}, got {size_text(array)}"
        )
