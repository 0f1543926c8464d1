"""Commands that are killed in the middle of their work."""

import signal
import subprocess
import sys
import time

SECONDS = 600  # to get that far on a busy machine
ATTEMPTS = 5


def kill_midway(arguments, is_midway, clean):
    """Run a command of slanted until `is_midway`, kill it, and return what it printed.

    On a busy machine it may end before we look; then it is cleaned up after and tried again.
    """
    for _ in range(ATTEMPTS):
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [sys.executable, "-m", "slanted", *arguments], stdout=pipe, stderr=pipe
        ) as process:
            end = time.monotonic() + SECONDS
            while process.poll() is None and not is_midway() and time.monotonic() < end:
                time.sleep(0.002)
            process.kill()
            # Workers hold these pipes: this returns only when they have ended, too.
            printed = process.communicate(timeout=SECONDS)[0]
        assert time.monotonic() < end, "it did not get that far"
        if process.returncode == -signal.SIGKILL:
            return printed
        clean()
    raise AssertionError("it always ended before it could be killed")
