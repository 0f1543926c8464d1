"""Line coverage of the kernels, which no tool sees once they are compiled.

``python benchmarks/kernel_coverage.py [--seconds 5] [--examples 5] [tests …]`` runs the property
tests of all kernels as plain Python (``NUMBA_DISABLE_JIT``), with few examples each; a test that
takes longer is given up, but what it reached counts. It needs the package ``coverage``.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ |= {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1"}

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    *("tests/regions", "tests/segmentation", "tests/matching/test_census_kernels.py"),
    *("tests/matching/test_census_sgm.py", "tests/matching/test_interpolation.py", "tests/model"),
    *("tests/inference", "tests/learning/test_soft_kernels.py", "tests/learning/test_objective.py"),
    "tests/output/test_mesh.py",
)


class FewExamples:
    """A plugin of pytest: few examples, and a limit of CPU time for each test."""

    def __init__(self, examples: int, seconds: float) -> None:
        self.examples, self.seconds = examples, seconds

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Let hypothesis draw few examples, and not shrink what a limit has cut."""
        from hypothesis import HealthCheck, Phase, settings

        for item in items:
            function = getattr(item, "obj", None)
            if hasattr(function, "hypothesis"):
                function._hypothesis_internal_use_settings = settings(
                    max_examples=self.examples,
                    deadline=None,
                    derandomize=True,
                    database=None,
                    phases=[Phase.explicit, Phase.generate],
                    suppress_health_check=list(HealthCheck),
                )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        """Give a test up after its time."""

        def give_up(*_: object) -> None:
            pytest.skip("enough of it in plain Python")

        signal.signal(signal.SIGPROF, give_up)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> int:
    """Run the tests under coverage and print a line for each file of kernels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", default=list(TESTS))
    parser.add_argument("--seconds", type=float, default=5.0, help="CPU time of a test at most")
    parser.add_argument("--examples", type=int, default=5)
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    import coverage

    watch = coverage.Coverage(include=["*/slanted/*/*kernels.py"], data_file=None)
    watch.start()
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", *options.tests]
    status = pytest.main(arguments, plugins=[FewExamples(options.examples, options.seconds)])
    watch.stop()
    watch.report(show_missing=True)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
