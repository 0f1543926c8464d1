"""Where images live while weights are learned: in this process, in others, or on Dask's workers.

An image's tables take hundreds of megabytes and its messages change with every evaluation, so
neither travels: each owner keeps some images, and only weights, sums and, for checkpoints, messages
are exchanged. A backend has a number of owners and runs plain functions in the one that is named.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self

from slanted.runtime.dask_client import connect, workers_of
from slanted.runtime.processes import end_with_parent


class Pending(Protocol):
    """A result that may still be computed."""

    def result(self) -> Any:
        """Wait for it."""


class Backend(Protocol):
    """Owners of images."""

    owners: int
    """How many there are."""

    def submit(self, owner: int, function: Callable[..., Any], *arguments: Any) -> Pending:
        """Run a function of a module, with arguments that can be pickled, at an owner."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class _Done:
    def __init__(self, value: Any) -> None:
        self._value = value

    def result(self) -> Any:
        return self._value


class Here:
    """One owner: this process."""

    owners = 1

    def submit(self, owner: int, function: Callable[..., Any], *arguments: Any) -> Pending:
        """Run it at once."""
        return _Done(function(*arguments))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class Processes:
    """Owners that are processes of this machine.

    Parameters
    ----------
    owners
        How many.
    """

    def __init__(self, owners: int) -> None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        self.owners = owners
        context = get_context("spawn")  # forking a process that has threads may hang
        self._pools = [
            ProcessPoolExecutor(1, mp_context=context, initializer=end_with_parent)
            for _ in range(owners)
        ]

    def submit(self, owner: int, function: Callable[..., Any], *arguments: Any) -> Pending:
        """Run it in a process of its own."""
        return self._pools[owner].submit(function, *arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)


class Dask:
    """Owners that are the workers of a Dask scheduler.

    Parameters
    ----------
    address
        Of the scheduler, as in ``tcp://host:8786``. Its workers must be able to read the frames'
        files by the same paths.
    """

    def __init__(self, address: str) -> None:
        self._client = connect(address)
        self._workers = sorted(workers_of(self._client))
        self.owners = len(self._workers)

    def submit(self, owner: int, function: Callable[..., Any], *arguments: Any) -> Pending:
        """Run it at one worker, and at no other: that is where the images are."""
        pending: Pending = self._client.submit(
            function,
            *arguments,
            workers=[self._workers[owner]],
            allow_other_workers=False,
            pure=False,
        )
        return pending

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


def open_backend(workers: int, scheduler: str | None = None) -> Backend:
    """Return Dask's workers if there is a scheduler, else so many processes, one being this one."""
    if scheduler is not None:
        return Dask(scheduler)
    return Processes(workers) if workers > 1 else Here()
