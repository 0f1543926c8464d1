"""The command ``slanted``, and ``python -m slanted``.

Imports take a third of a second, and Ctrl-C during them must not print where they were. So before
anything is imported, it is made to end the process at once; when the command begins, it raises
KeyboardInterrupt again. (Catching that would not do: an import may turn it into another exception.)
When the command has ended, Ctrl-C ends the process at once again: libraries that clean up would
print a traceback.
"""

import os
import signal


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored
        signal.signal(signal.SIGINT, _leave)
    from slanted.cli import main as run

    try:
        run(begin=_begin)
    except KeyboardInterrupt:  # as the command ends
        _leave()
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> None:
    try:
        os.write(2, b"slanted: interrupted\n")
    finally:
        os._exit(130)


def _begin() -> None:
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    main()
