"""``slanted live``: cameras and videos, estimated and shown as they come."""

from __future__ import annotations

import re
import sys
import webbrowser
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report, compile_kernels
from slanted.cli.terminal import note, say
from slanted.errors import plural

if TYPE_CHECKING:
    from slanted.live.session import CamerasOf, LiveSession, LiveState
    from slanted.live.sources import Source
    from slanted.settings import Settings

SOURCES = "Sources"


@new_command(name="live", short_help="Estimate the pairs of cameras or videos as they come.")
@click.argument("source", nargs=-1, required=True, metavar="SOURCE [SOURCE]")
@option("--record", type=options.PATH, metavar="FOLDER",
        help="Write every result to FOLDER, as `slanted batch` does.")  # fmt: skip
@option("--frames", type=click.IntRange(min=1), metavar="N", help="End after N results.")
@option("--rate", type=click.FloatRange(0.01, 1000), metavar="R",
        help="Estimate at most R pairs a second; files are played at that rate, by default at "
        "their own.")  # fmt: skip
@option("--view/--no-view", default=True,
        help="Show everything in the browser, or print a line a second.")  # fmt: skip
@option("--split", group=SOURCES, type=click.Choice(["side-by-side", "top-bottom"]),
        default="side-by-side", show_default=True,
        help="How the two views lie in the images of a single SOURCE.")  # fmt: skip
@option("--size", group=SOURCES, metavar="WIDTHxHEIGHT", help="Ask cameras for this size.")
@option("--max-skew", group=SOURCES, type=click.FloatRange(0.001, 10), metavar="S",
        help="Images of two cameras that came further apart are no pair; by default half the time "
        "between images of the faster one.")  # fmt: skip
@options.server
@options.calibration
@option("--rectify/--no-rectify", group=options.CALIBRATION, default=True,
        help="Rectify pairs if --calib holds raw cameras (OpenCV K1, D1, …; ROS), or take them as "
        "rectified.")  # fmt: skip
@partial(options.settings, preset="fast")
@options.report
def command(
    settings: Settings,
    source: tuple[str, ...],
    record: Path | None,
    frames: int | None,
    rate: float | None,
    view: bool,
    split: Any,
    size: str | None,
    max_skew: float | None,
    host: str,
    port: int | None,
    allow_host: tuple[str, ...],
    token: bool,
    browser: bool,
    rectify: bool,
    report: Report,
    **calibration_values: Any,
) -> None:
    """Estimate pairs as they come, and show image, disparity, confidence and cloud, moving.

    A SOURCE is the number of a camera, a video, a folder of images or their names as in
    left_%04d.png, or an address such as rtsp://…; the first of two is the left one. The images of a
    single SOURCE have both views. Of cameras the newest pair is taken; files are played in order.
    A camera that is lost is waited for. Ctrl+C ends it, and so does the end of a file.
    """
    from slanted.batch.live_results import live_results
    from slanted.live.pairs import pair_sources
    from slanted.live.session import LiveSession
    from slanted.matching.network.matcher import check_network
    from slanted.runtime.extras import how_to_install
    from slanted.viewer.serve import bind, missing_package

    if len(source) > 2:
        raise click.UsageError(f"SOURCE: expected one or two, got {len(source)}")
    check_network(settings.matching)
    cameras = _cameras_of(rectify, calibration_values)
    with ExitStack() as stack:
        listening = None
        if view and (missing := missing_package()):
            note(f"slanted: warning: without {missing}, which is not installed, there is no page; "
                 f"{how_to_install('viewer')}, or give --no-view")  # fmt: skip
        elif view:
            listening = stack.enter_context(bind(host, port))
        opened = _open_sources(source, size)
        kept = None if record is None else stack.enter_context(live_results(record, settings))
        with report:
            compile_kernels(report)
        session = LiveSession(
            pair_sources(opened, split, rate, max_skew),
            settings,
            cameras,
            kept=kept,
            most=frames,
            tell=lambda sentence: note(f"slanted: {sentence}"),
        )
        if listening is None:
            _print_lines(session, report)
        else:
            from slanted.live.page import serve_live
            from slanted.viewer.access import Keys

            def announce(address: str, to_open: str) -> None:
                say(f"slanted shows {session.name} at {address}  (Ctrl+C ends it)")
                if browser:
                    Thread(target=webbrowser.open, args=(to_open,), daemon=True).start()

            keys = Keys() if token else None
            serve_live(
                session, listening, keys=keys, host=host, others=allow_host, announce=announce
            )
    session.check()
    _tell_outcome(session.state(), record, report)


def _cameras_of(rectify: bool, values: dict[str, Any]) -> CamerasOf | None:
    """Return what gives the calibration of the options, or what rectifies by it."""
    from slanted.images.rectify import make_rectifier
    from slanted.io.raw_calibration import read_raw_calibration

    if rectify and values["calib"] is not None and values["fx"] is None:
        unit = 1.0 if values["baseline_unit"] is None else values["baseline_unit"]
        raw = read_raw_calibration(
            values["calib"], values["calib_right"], baseline_unit_meters=unit
        )
        if raw is not None:
            return partial(make_rectifier, raw)
    return options.calibration_source(**values)


def _open_sources(texts: tuple[str, ...], size: str | None) -> list[Source]:
    """Open the sources; the first is closed if the second cannot be opened."""
    from slanted.live.sources import open_source, without_password

    if len(set(texts)) < len(texts):
        raise click.UsageError(
            f"SOURCE: expected two different ones, got {without_password(texts[0])} twice; give it "
            "once if its images have both views"
        )
    wanted = None if size is None else _size(size)
    with ExitStack() as stack:
        opened = []
        for text in texts:
            opened.append(open_source(text, wanted))
            stack.callback(opened[-1].close)
        stack.pop_all()  # from here on the session closes them
    return opened


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d{0,4})[x×]([1-9]\d{0,4})", text)
    if found is None:
        raise click.UsageError(f"--size: expected WIDTHxHEIGHT as in 1280x720, got {text!r}")
    return int(found.group(1)), int(found.group(2))


def _print_lines(session: LiveSession, report: Report) -> None:
    """Run a session, with a line a second."""
    session.start()
    try:
        with suppress(KeyboardInterrupt):
            while not session.wait(1.0):
                if not report.quiet:
                    note(_line(session.state()))
    finally:
        session.stop()


def _line(state: LiveState) -> str:
    line = f"{state.seconds:.0f} s: {plural(state.frames, 'frame')}, {state.rate:.1f} a second, "
    line += f"latency {1000 * state.latency:.0f} ms, {state.dropped} dropped"
    return line + (f", {state.failed} failed" if state.failed else "")


def _tell_outcome(state: LiveState, record: Path | None, report: Report) -> None:
    names = ("frames", "failed", "dropped", "seconds", "rate", "latency")
    data: dict[str, Any] = {name: getattr(state, name) for name in names}
    data["output"] = None if record is None else str(record)
    line = f"{plural(state.frames, 'frame')} in {state.seconds:.1f} s, {state.dropped} dropped"
    line += f", {state.failed} failed" if state.failed else ""
    line += f"; recorded in {record}" if record is not None else ""
    report.outcome(data, [line])
    if state.failed:
        sys.exit(1)
