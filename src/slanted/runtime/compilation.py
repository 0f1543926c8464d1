"""Compilation of kernels before their first use, by several processes.

Numba compiles a kernel when it is first called, and only one at a time in a process. Here the
kernels that runs are known to call (``kernel_signatures.json``) are divided among this process and
helper processes, which all write to the same cache (`slanted.runtime.kernel_cache`). A kernel that
is not listed is compiled when it is called, as usual. What a failed helper leaves undone is
compiled here.
"""

from __future__ import annotations

import gc
import json
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path

from slanted.runtime.kernel_list import Specialisation, listed

MOST_HELPERS = 3
"""More processes would only wait for the longest kernels, and each takes 200 MB."""

SELDOM = 100_000
"""Objects that Python may make between two searches for garbage while it compiles."""

Count = Callable[[int, int], None]
"""Called with the number of kernels compiled so far and the number of all kernels."""


def cache_folder() -> Path | None:
    """Return the folder of this package's compiled kernels, or None if none can be written."""
    from slanted.runtime.kernel_cache import KernelCache

    try:
        return Path(KernelCache(cache_folder).cache_path)  # the same for all functions
    except RuntimeError:  # Numba found no folder that it may write to
        return None


def cache_home() -> Path | None:
    """Return the folder that holds the cache folders of all kernels."""
    folder = cache_folder()
    if folder is None:
        return None
    return folder.parents[1] if folder.name == "__pycache__" else folder.parent


def is_warm() -> bool:
    """Return whether `compile_ahead` has run with the same code on the same machine."""
    from numba import config

    if config.DISABLE_JIT:
        return True  # there is nothing to compile
    mark = _mark()
    try:
        return mark is not None and mark.read_text("utf-8") == _sources()
    except OSError:
        return False


def compile_ahead(count: Count | None = None, *, helpers: int | None = None) -> int:
    """Compile all listed kernels that are not in the cache yet, and mark the cache as complete.

    Parameters
    ----------
    count
        Called whenever a kernel is done.
    helpers
        Number of other processes; by default one for each other core, at most `MOST_HELPERS`.

    Returns
    -------
    int
        How many kernels were compiled.
    """
    from numba import config

    from slanted.runtime.threads import core_count

    if config.DISABLE_JIT:
        return 0
    mark = _mark()
    waiting = [entry for entry in listed() if not entry.is_kept()]
    # The longest first, so that all processes end at about the same time.
    waiting.sort(key=lambda entry: -entry.size)
    if helpers is None:
        helpers = min(core_count() - 1, MOST_HELPERS)
    if mark is None:
        helpers = 0  # without a cache, their work would be lost
    with _seldom_collected():
        _Sharing(waiting, count).compile(min(helpers, len(waiting) // 2))
    if mark is not None:
        with suppress(OSError):
            mark.write_text(_sources(), "utf-8")
    return len(waiting)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Search for garbage less often inside the block.

    Numba makes millions of small objects, and keeps most of them. With Python's threshold an eighth
    of the time goes into searching them; with this one next to none, for 30 MB more. The threshold
    is the whole process's: blocks of several threads must not overlap.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(SELDOM, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Sharing:
    """Kernels to compile, from which this process and its helpers take one after the other."""

    def __init__(self, entries: Sequence[Specialisation], count: Count | None) -> None:
        self.waiting = deque(entries)
        self.total = len(entries)
        self.done = 0
        self.count = count
        self.lock = threading.Lock()

    def compile(self, helpers: int) -> None:
        if self.total:
            self._tell(0)  # before a helper can have finished one
        processes = [process for _ in range(helpers) if (process := _start_helper()) is not None]
        threads = [threading.Thread(target=self._feed, args=(each,)) for each in processes]
        for thread in threads:
            thread.start()
        try:
            self._compile_rest()
            for thread in threads:
                thread.join()
            self._compile_rest()  # what a failed helper left undone
        finally:
            self.waiting.clear()
            for process, thread in zip(processes, threads, strict=True):
                process.kill()
                thread.join()
                process.communicate()

    def _compile_rest(self) -> None:
        while self.waiting:
            try:
                entry = self.waiting.popleft()
            except IndexError:  # a helper took the last one
                return
            with suppress(Exception):  # if a kernel fails, the run that calls it will report it
                entry.compile()
            self._tell(1)

    def _feed(self, helper: subprocess.Popen[str]) -> None:
        assert helper.stdin is not None and helper.stdout is not None
        while self.waiting:
            try:
                entry = self.waiting.popleft()
            except IndexError:
                return
            try:
                helper.stdin.write(json.dumps([entry.kernel, *entry.arguments]) + "\n")
                helper.stdin.flush()
                answered = helper.stdout.readline() == "done\n"
            except OSError:
                answered = False
            if not answered:
                self.waiting.append(entry)
                return
            self._tell(1)

    def _tell(self, more: int) -> None:
        with self.lock:
            self.done += more
            if self.count is not None:
                self.count(self.done, self.total)


def _start_helper() -> subprocess.Popen[str] | None:
    # Not a worker of `slanted.runtime.workers`: multiprocessing would import the user's main module
    # in each helper, and a script without a `__main__` guard would run again there. A helper ends
    # with this process, which closes its standard input. -P: no imports from the current folder.
    command = [sys.executable, "-P", "-m", "slanted.runtime.compilation"]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
    except OSError:
        return None


def serve() -> None:
    """Compile the kernels named on standard input until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    with _seldom_collected():
        for line in sys.stdin:
            name, *arguments = json.loads(line)
            Specialisation(name, arguments).compile()
            sys.stdout.write("done\n")
            sys.stdout.flush()


def _mark() -> Path | None:
    """Return the file that marks the cache of this machine as complete, if it can be written."""
    import numba
    from numba.core.registry import cpu_target

    from slanted.runtime.kernel_cache import digest

    folder = cache_folder()
    if folder is None:
        return None
    processor = cpu_target.target_context.codegen().magic_tuple()
    machine = digest((sys.version, numba.__version__, processor))
    return folder / f"slanted-{machine[:20]}.compiled"


def _sources() -> str:
    """Return a digest of the code whose kernels are marked as compiled."""
    from slanted.runtime.kernel_cache import digest

    root = Path(str(resources.files("slanted")))
    stats = [(str(file), file.stat()) for file in sorted(root.rglob("*.py"))]
    return digest([(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats])


if __name__ == "__main__":
    serve()
