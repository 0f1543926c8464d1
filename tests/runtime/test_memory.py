"""Memory that one run frees serves the next, without the system clearing it again."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

FAULTS = """
import resource, sys
import numpy as np
from slanted.runtime.memory import keep_freed_memory

def run():
    arrays = [np.ones(9 * 2**20, np.uint8) for _ in range(5)]

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

if sys.argv[1] == "kept":
    keep_freed_memory()
for _ in range(5):
    before = faults()
    run()
    last = faults() - before
print(last)
"""


HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is a rule of glibc")
@pytest.mark.skipif(
    HUGE_PAGES.exists() and "[always]" in HUGE_PAGES.read_text(),
    reason="huge pages are few, whether they are given back or not",
)
def test_freed_memory_is_not_given_back_to_the_system():
    def last(which, **variables):
        environment = {**os.environ, "NUMPY_MADVISE_HUGEPAGE": "0", **variables}
        command = [sys.executable, "-c", FAULTS, which]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return int(done.stdout)

    assert last("kept") < 100 < last("given back")
    assert last("kept", MALLOC_TRIM_THRESHOLD_="1000000") > 100  # as the user wants it
