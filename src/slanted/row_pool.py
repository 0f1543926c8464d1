"""Threads that share the rows of an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

RowFunction = Callable[[int, int], None]
ForRows = Callable[[int, RowFunction], None]


@contextmanager
def row_pool(threads: int) -> Iterator[ForRows]:
    """Give a function that shares ``function(first, last)`` over rows among threads."""
    if threads == 1:
        yield lambda rows, function: function(0, rows)
        return
    with ThreadPoolExecutor(threads) as pool:

        def for_rows(rows: int, function: RowFunction) -> None:
            edges = [rows * k // threads for k in range(threads + 1)]
            list(pool.map(function, edges[:-1], edges[1:]))

        yield for_rows


def rows_of(
    kernel: Callable[..., None], inputs: tuple[Any, ...], outputs: tuple[Any, ...]
) -> RowFunction:
    """Bind a kernel to all its arguments but the rows, which stand between inputs and outputs."""
    return lambda first, last: kernel(*inputs, first, last, *outputs)
