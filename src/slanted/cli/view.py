"""``slanted view``: a result in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import new_command, option
from slanted.cli.progress import Report, compile_kernels
from slanted.cli.terminal import say

if TYPE_CHECKING:
    from slanted.inference.outcome import Snapshot
    from slanted.result_folder import ResultFolder
    from slanted.settings import Settings


@new_command(name="view", short_help="Look at a result, or a pair, in the browser.")
@click.argument(
    "target", nargs=-1, required=True, type=options.PATH, metavar="RESULT|BATCH|LEFT RIGHT"
)
@option("--pair", metavar="NAME",
        help="The pair of BATCH to show first; by default the first one. With a RESULT, the pair "
        "of the batch that --compare names; by default the one of its folder's name.")  # fmt: skip
@option("--ground-truth", type=options.PATH, metavar="FILE",
        help="Disparity to compare with, which adds the error, or the folder with that of all "
        "pairs of BATCH; by default ground_truth.pfm in RESULT.")  # fmt: skip
@options.scale("--ground-truth")
@option("--compare", type=options.PATH, metavar="RESULT|BATCH|MAP",
        help="A second result or disparity map of the pair, to swipe between both. With two "
        "batches, each pair is compared with the one of its name.")  # fmt: skip
@options.server
@options.calibration
@options.settings
@option("--quiet", is_flag=True, help="Print only the address, warnings and errors.")
def command(
    settings: Settings,
    target: tuple[Path, ...],
    pair: str | None,
    ground_truth: Path | None,
    ground_truth_scale: float | None,
    compare: Path | None,
    host: str,
    port: int | None,
    allow_host: tuple[str, ...],
    token: bool,
    browser: bool,
    quiet: bool,
    **calibration_values: Any,
) -> None:
    """Show the folder RESULT of `slanted run`, or run on the pair LEFT RIGHT and show that.

    Of BATCH, the folder of a `slanted batch`, all pairs are a strip of small pictures, which can be
    sorted by any number of its summary and, with ground truth, by the errors.
    The page has every map of the result and, with ground truth, the error and its figures, beside
    the point cloud and the mesh in 3D; sliders run inference again. OpenCV's SGBM, or what
    --compare names, can be seen beside the result. Ctrl+C ends the server.
    """
    from slanted.batch.scores import measure_of
    from slanted.cli.view_batch import make_strip, read_compared
    from slanted.io import read_disparity
    from slanted.viewer.access import Keys
    from slanted.viewer.serve import bind, require_viewer, serve
    from slanted.viewer.session import Session

    require_viewer()
    target, batch, pair = _choose_pair(target, pair, compare)
    compared = None if compare is None else read_compared(compare, pair, target)
    truth = truths = None
    if batch is not None and ground_truth is not None and ground_truth.is_dir():
        truths = ground_truth
    if ground_truth is None:
        options.refuse_without("--ground-truth", {"--ground-truth-scale": ground_truth_scale})
    elif truths is None:
        truth = read_disparity(ground_truth, scale=ground_truth_scale, allow_negative=True)

    def check_sizes(image: Any) -> None:
        if truth is not None:
            options.check_size(ground_truth, truth, image)
        if compared is not None:
            options.check_size(compare, getattr(compared[1], "disparity", compared[1]), image)

    # Check everything before a run that takes minutes.
    with closing(bind(host, port)) as listening:
        with Report(quiet=quiet, as_json=False) as report:
            opened, snapshots = _open(target, settings, calibration_values, report, check_sizes)
            measure = None if batch is None else measure_of(batch, truths, ground_truth_scale)
            if measure is not None and measure.truths is not None and pair is not None:
                truth = measure.truths.read(pair, opened.result.disparity.shape)
            known = opened.truth if truth is None else truth
            session = Session(opened, known, snapshots, compared=compared)
            strip = None
            if batch is not None and measure is not None:
                strip = make_strip(batch, target[0], session, measure, calibration_values, compare)

        def announce(address: str, to_open: str) -> None:
            say(f"slanted shows {opened.name} at {address}  (Ctrl+C ends it)")
            if batch is not None and strip is None:
                say(f"it is the pair {pair}; the batch has more than a page can list: use --pair")
            elif strip is not None and len(strip.pairs) > 1:
                say(f"it is the pair {pair}; the page has all {len(strip.pairs)} of the batch")
            if browser:
                # The call may wait until the browser ends; the server must not.
                Thread(target=webbrowser.open, args=(to_open,), daemon=True).start()

        keys = Keys() if token else None
        serve(
            session,
            listening,
            keys=keys,
            host=host,
            others=allow_host,
            announce=announce,
            strip=strip,
        )


def _choose_pair(
    target: tuple[Path, ...], name: str | None, compare: Path | None
) -> tuple[tuple[Path, ...], Path | None, str | None]:
    """Return the folder of a pair in place of that of its batch, the batch, and the pair's name.

    Without a batch to show, the name is that of a pair in the batch to compare with, if given.
    """
    from slanted.batch.summary import find_result, find_results, is_batch

    if len(target) != 1 or not is_batch(target[0]):
        if compare is None or not is_batch(compare):
            options.refuse_without("the folder of a batch", {"--pair": name})
        return target, None, name
    name = next(iter(find_results(target[0]))) if name is None else name
    return (find_result(target[0], name),), target[0], name


def _open(
    target: tuple[Path, ...],
    settings: Settings,
    calibration_values: dict[str, Any],
    report: Report,
    check_sizes: Callable[[Any], None],
) -> tuple[ResultFolder, list[Snapshot]]:
    from slanted.cli.view_batch import open_with
    from slanted.pipeline import estimate
    from slanted.result_folder import ResultFolder
    from slanted.settings import Settings

    if len(target) == 1:
        if target[0].is_file():
            raise click.UsageError(
                f"{target[0]}: expected the folder of a result, got a file; for a pair give both "
                "images: slanted view LEFT RIGHT"
            )
        if settings != Settings.preset("default"):
            raise click.UsageError(
                "settings: mean nothing with a RESULT, which has its own; change them in the page, "
                "or give LEFT RIGHT"
            )
        report.progress(f"reading {target[0]}")
        opened = open_with(target[0], calibration_values)
        check_sizes(opened.result.disparity)
        return opened, []
    if len(target) != 2:
        raise click.UsageError(
            f"expected the folder of a result, or LEFT and RIGHT, got {len(target)} paths"
        )
    images, names = options.read_pair(*target)
    calibration = options.load_calibration(images[0].shape[:2], **calibration_values)
    check_sizes(images[0])
    compile_kernels(report)
    snapshots: list[Snapshot] = []
    watch = snapshots.append
    result = estimate(*images, settings, progress=report.progress, watch=watch, names=names)
    return ResultFolder(target[0].name, result, *images, calibration, {}), snapshots
