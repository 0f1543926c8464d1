"""What all tests share: kernels that are compiled once, a tiny dataset, real data, and a browser."""

import os
import signal
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from slowest import SLOWEST

# A busy machine is not the fault of a test: nothing here measures time.
settings.register_profile(
    "slanted", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("slanted")

# A shell starts what runs in its background (`pytest &`) with Ctrl-C ignored, and children inherit
# that: tests that interrupt a child would wait for nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# FFmpeg asks only once in a process whether it may print: when any test writes the first video.
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Start one worker more than there are cores: many tests wait, for a process or a browser."""
    from slanted.runtime.threads import core_count

    return core_count() + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config):
    """Compile all kernels before the workers start, each of which would compile them otherwise."""
    from slanted.runtime.compilation import compile_ahead, is_warm

    config.option.loadscopereorder = False  # keep our order, below
    if not is_warm():
        config.get_terminal_writer().line("compiling kernels, once", flush=True)
        compile_ahead()


def pytest_collection_modifyitems(items):
    """Put the slowest files first: one that comes last would leave all cores but one idle."""
    here = Path(__file__).parent
    ranks = {here / name: rank for rank, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.fixture
def own_matchers(monkeypatch):
    """Matchers that a test registers are gone after it."""
    from slanted import matching, settings

    known = list(settings.matching.MATCHERS)
    monkeypatch.setattr(matching, "_MATCHERS", dict(matching._MATCHERS))
    monkeypatch.setattr(settings.matching, "MATCHERS", known)
    monkeypatch.setattr(matching, "MATCHERS", known)


@pytest.fixture(scope="session")
def small_kitti(tmp_path_factory):
    """A function that writes tiny pairs in KITTI's layout, so many of each split."""
    from slanted.synthetic import make_scene, write_kitti

    def write(**counts):
        seed = count()
        splits = {
            split: [make_scene(128, 64, seed=next(seed)) for _ in range(number)]
            for split, number in counts.items()
        }
        return write_kitti(tmp_path_factory.mktemp("kitti"), splits)

    return write


@pytest.fixture(scope="session")
def real_data():
    """A function from the name of a dataset to its folder; the test is skipped without it."""
    root = Path(os.environ.get("SLANTED_DATA") or Path(__file__).parents[2] / "shared/data")

    def folder_of(name):
        if not (root / name).is_dir():
            pytest.skip(f"no {root / name}; set SLANTED_DATA to run on real data")
        return root / name

    return folder_of


@pytest.fixture(scope="module")
def browser():
    """Chromium, started once for a module; tests open contexts of their own in it."""
    from viewer.browsing import launched

    with launched() as opened:
        yield opened


@pytest.fixture
def context(browser):
    """Tabs of one test."""
    from viewer.browsing import in_context

    with in_context(browser) as opened:
        yield opened
