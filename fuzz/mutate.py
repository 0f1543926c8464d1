"""Random changes of bytes: bits, numbers, parts cut and copied, and words of the format."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any

NUMBERS = (0, 1, 2, 7, 8, 16, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1)
WORDS = (b"nan", b"inf", b"-1", b"1e400", b"9" * 20, b"9" * 400, b"9" * 5000, b"[" * 2000)
BITS = (b"a.", b"[", b"[],", b"{}", b"#\n", b"\n", b",", b"- ", b"1 ", b"\0")
"""What parsers may remember one by one, so that many take much memory or time."""
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 2**31, 10**400, float("nan"), float("inf")),
    *("", "x", "\x1b[2J", "../x", [], [1, 2], [[]], {}, {"a": 1}, "9" * 3000),
)
LONGEST = 50_000


def mutate(data: bytes, other: bytes, tokens: tuple[bytes, ...], draw: Random) -> bytes:
    """Return a change of `data`, perhaps with parts of another input or words of the format."""
    if data.startswith(b"{") and draw.random() < 0.6:
        with suppress(ValueError, RecursionError):
            tree = json.loads(data)
            for _ in range(draw.choice((1, 1, 2, 4))):
                tree = _change_tree(tree, draw)
            return json.dumps(tree).encode()
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 5))):
        _change(changed, other, tokens, draw)
    return bytes(changed[:LONGEST])


def _change_tree(tree: Any, draw: Random) -> Any:
    """Change one value of a JSON tree, at any depth."""
    if draw.random() < 0.2 or not isinstance(tree, dict | list) or not tree:
        return deepcopy(draw.choice(VALUES))  # later changes must not reach VALUES
    key = draw.choice(list(tree)) if isinstance(tree, dict) else draw.randrange(len(tree))
    if draw.random() < 0.1:
        del tree[key]
    else:
        tree[key] = _change_tree(tree[key], draw)
    return tree


def _change(data: bytearray, other: bytes, tokens: tuple[bytes, ...], draw: Random) -> None:
    kind = draw.randrange(10)
    here = draw.randrange(len(data) + 1)
    end = min(len(data), here + draw.choice((1, 1, 2, 4, 8, 64, 1000)))
    if kind == 0 and data:
        data[here % len(data)] ^= 1 << draw.randrange(8)
    elif kind == 1 and data:
        data[here % len(data)] = draw.choice(NUMBERS) & 255
    elif kind == 2:
        size = draw.choice((1, 2, 4, 8))
        number = draw.choice(NUMBERS) & (256**size - 1)
        data[here : here + size] = number.to_bytes(size, draw.choice(("little", "big")))
    elif kind == 3:
        del data[here:end]
    elif kind == 4:
        data[here:here] = data[here:end] * draw.choice((1, 1, 2, 50))
    elif kind == 5 and other:
        start = draw.randrange(len(other))
        data[here:end] = other[start : start + end - here]
    elif kind == 6:
        data[here:here] = draw.choice(tokens + WORDS)
    elif kind == 7:
        data[here:end] = draw.choice(tokens + WORDS)
    elif kind == 8:  # as bombs do
        word = draw.choice((bytes(data[here:end]), *tokens, *BITS)) or b"a"
        data[here:here] = word * min(draw.choice((100, 3000, LONGEST)), LONGEST // len(word))
    else:
        data[here:here] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 9)))
