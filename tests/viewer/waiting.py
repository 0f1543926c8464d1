"""Waiting for what others do, for as long as a busy machine may take."""

import time

PATIENCE = 120
"""Seconds after which something that should happen is taken for broken; it never takes as long."""


def until(true, pause=lambda: time.sleep(0.02)):
    """Wait until a function returns something true, and return that."""
    end = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < end, "waited in vain"
        pause()
    return found
