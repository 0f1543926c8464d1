"""Dask schedulers and workers as processes of their own, over loopback."""

import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

SECONDS = 600  # to start on a busy machine


class Process:
    """A process of Dask. Its log goes to a file: a pipe that nobody reads would stop it."""

    def __init__(self, *arguments, **variables):
        self._log = tempfile.NamedTemporaryFile("w+", suffix=".log")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            stdout=subprocess.DEVNULL, stderr=self._log, env={**os.environ, **variables},
        )  # fmt: skip

    @property
    def log(self):
        return Path(self._log.name).read_text()

    def wait_for(self, pattern):
        """Wait until the log has a pattern, and return what matches it."""
        end = time.monotonic() + SECONDS
        while not (found := re.search(pattern, self.log)):
            assert self.process.poll() is None, f"it ended without saying {pattern}: {self.log}"
            assert time.monotonic() < end, f"it did not say {pattern}: {self.log}"
            time.sleep(0.05)
        return found

    def close(self):
        self.process.kill()
        self.process.wait()
        self._log.close()


@contextmanager
def a_scheduler(**variables):
    """Yield a scheduler's address and process."""
    scheduler = Process(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", **variables
    )
    try:
        yield scheduler.wait_for(r"Scheduler at:\s*(tcp://\S+)")[1], scheduler.process
    finally:
        scheduler.close()


@contextmanager
def a_worker(address, local, *options, **variables):
    """Yield a worker's address and process once it is registered."""
    worker = Process(
        *("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"),
        *("--local-directory", str(local), *options),
        **variables,
    )
    try:
        worker.wait_for("Registered to")
        yield worker.wait_for(r"Start worker at:\s*(tcp://\S+)")[1], worker.process
    finally:
        worker.close()
