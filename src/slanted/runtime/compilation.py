"""Kernels compiled ahead of their first use, by several processes.

Numba compiles a kernel when it is first called, one after the other: its compiler has one lock a
process. Here the kernels that runs are known to call (``kernel_signatures.json``) are shared out
among this process and helpers, which leave what they compiled in the cache that all of them read
(`slanted.runtime.kernel_cache`). A kernel that is not listed is compiled when it is called, as
ever; a helper that fails leaves its share to this process.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path

from slanted.runtime.kernel_list import Specialisation, listed

MOST_HELPERS = 3
"""More would wait for the longest kernels, at 200 MB each."""

Count = Callable[[int, int], None]
"""Called with how many kernels are compiled, and how many are to be."""


def cache_folder() -> Path | None:
    """Return where compiled kernels are kept, or None if no such folder may be written."""
    from slanted.runtime.kernel_cache import KernelCache

    try:
        return Path(KernelCache(cache_folder).cache_path)  # of any function of this package
    except RuntimeError:  # Numba found no folder that it may write to
        return None


def cache_home() -> Path | None:
    """Return the folder that has those of all kernels in it."""
    folder = cache_folder()
    if folder is None:
        return None
    return folder.parents[1] if folder.name == "__pycache__" else folder.parent


def is_warm() -> bool:
    """Tell whether `compile_ahead` has been here before, with the same code on the same machine."""
    from numba import config

    if config.DISABLE_JIT:
        return True  # as far as can be
    mark = _mark()
    try:
        return mark is not None and mark.read_text("utf-8") == _sources()
    except OSError:
        return False


def compile_ahead(count: Count | None = None, *, helpers: int | None = None) -> int:
    """Compile all listed kernels that are not in the cache yet, and leave a mark there.

    Parameters
    ----------
    count
        Called as kernels are done.
    helpers
        Further processes; by default one a core beside this one, at most `MOST_HELPERS`.

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
    if helpers is None:
        helpers = min(core_count() - 1, MOST_HELPERS)
    if mark is None:
        helpers = 0  # nothing to share what they compile with
    _Sharing(waiting, count).compile(min(helpers, len(waiting) // 2))
    if mark is not None:
        with suppress(OSError):
            mark.write_text(_sources(), "utf-8")
    return len(waiting)


class _Sharing:
    """Shares kernels out: this process takes them from the front, helpers from the back."""

    def __init__(self, entries: Sequence[Specialisation], count: Count | None) -> None:
        self.waiting = deque(entries)
        self.total = len(entries)
        self.done = 0
        self.count = count
        self.lock = threading.Lock()

    def compile(self, helpers: int) -> None:
        if self.total:
            self._tell(0)  # before a helper can be done with one
        processes = [process for _ in range(helpers) if (process := _start_helper()) is not None]
        threads = [threading.Thread(target=self._feed, args=(each,)) for each in processes]
        for thread in threads:
            thread.start()
        try:
            self._work_off()
            for thread in threads:
                thread.join()
            self._work_off()  # what a helper that failed has left
        finally:
            self.waiting.clear()
            for process, thread in zip(processes, threads, strict=True):
                process.kill()
                thread.join()
                process.communicate()

    def _work_off(self) -> None:
        while self.waiting:
            try:
                entry = self.waiting.popleft()
            except IndexError:  # a helper took the last one
                return
            with suppress(Exception):  # if a kernel fails, the run that calls it will tell
                entry.compile()
            self._tell(1)

    def _feed(self, helper: subprocess.Popen[str]) -> None:
        assert helper.stdin is not None and helper.stdout is not None
        while self.waiting:
            try:
                entry = self.waiting.pop()
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
    # -P: what lies in the current folder is not ours to import.
    command = [sys.executable, "-P", "-m", "slanted.runtime.compilation"]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
    except OSError:
        return None


def serve() -> None:
    """Compile the kernels that are named on standard input, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the process that it serves
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        Specialisation(name, arguments).compile()
        sys.stdout.write("done\n")
        sys.stdout.flush()


def _mark() -> Path | None:
    """Return the file that tells that all is compiled for this machine, if it can be written."""
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
    """Return the fingerprint of the code that the mark is for."""
    from slanted.runtime.kernel_cache import digest

    root = Path(str(resources.files("slanted")))
    stats = [(str(file), file.stat()) for file in sorted(root.rglob("*.py"))]
    return digest([(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats])


if __name__ == "__main__":
    serve()
