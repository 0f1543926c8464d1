"""What processes that work for another one have in common."""

from __future__ import annotations

import os
import signal
import threading


def serve_parent() -> None:
    """Leave interrupts to the parent, and end when it does.

    Ctrl-C reaches all processes of a terminal; the parent decides what becomes of this one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def end_with_parent() -> None:
    """End this process when its parent ends, however that comes about.

    A parent that was killed tells nobody, and its children would wait for work for ever.
    """
    from multiprocessing import parent_process

    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
