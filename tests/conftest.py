"""What all tests share: kernels that are compiled once, and the folder of real data."""

import os
from pathlib import Path

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config):
    """Compile all kernels before the workers start, each of which would compile them otherwise."""
    from slanted.runtime.compilation import compile_ahead, is_warm

    if not is_warm():
        config.get_terminal_writer().line("compiling kernels, once", flush=True)
        compile_ahead()


@pytest.fixture(scope="session")
def real_data():
    """A function from the name of a dataset to its folder; the test is skipped without it."""
    root = Path(os.environ.get("SLANTED_DATA") or Path(__file__).parents[2] / "shared/data")

    def folder_of(name):
        if not (root / name).is_dir():
            pytest.skip(f"no {root / name}; set SLANTED_DATA to run on real data")
        return root / name

    return folder_of
