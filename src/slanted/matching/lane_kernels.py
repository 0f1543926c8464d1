"""Sixteen disparities at a time, by the processor's vector instructions.

LLVM makes vectors of long loops only: with the 16 to 32 disparities of a `SearchGrid` it treats
most of them one by one. These functions, which kernels call, do a fixed number of *lanes*, or as
many *parts* of it as a pixel has. Without a compiler (``NUMBA_DISABLE_JIT``) their twins in Python
do the same.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from slanted.matching.plain_lane_kernels import LANES, NONE

__all__ = [
    "LANES",
    "best_two",
    "better_lanes",
    "extend_path",
    "least_lane",
    "pixel_cost_lanes",
    "sum_lanes",
]

_BYTE, _SHORT, _INT, _WORD = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_BYTES, _SHORTS, _WORDS = (ir.VectorType(kind, LANES) for kind in (_BYTE, _SHORT, _WORD))
_NUMBERS = ir.Constant(_SHORTS, list(range(LANES)))


class _Lanes:
    """Writes vector instructions on arrays of a kernel."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder = context, builder
        self.kinds, self.values = signature.args, arguments

    def _pointer(self, argument: int, index: Any, kind: Any) -> Any:
        array = self.context.make_array(self.kinds[argument])
        data = array(self.context, self.builder, self.values[argument]).data
        return self.builder.bitcast(self.builder.gep(data, [index]), kind.as_pointer())

    def load(self, argument: int, index: Any, kind: Any = _SHORTS) -> Any:
        """Read lanes of an array from an index on."""
        loaded = self.builder.load(self._pointer(argument, index, kind))
        loaded.align = 1  # of any address
        return loaded

    def store(self, values: Any, argument: int, index: Any) -> None:
        """Write lanes of an array from an index on."""
        self.builder.store(values, self._pointer(argument, index, values.type)).align = 1

    def all(self, value: Any, kind: Any = _SHORTS) -> Any:
        """Return lanes of one value."""
        none = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(none, value, ir.Constant(_INT, 0))
        zeros = ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES)
        return self.builder.shuffle_vector(first, none, zeros)

    def smaller(self, a: Any, b: Any) -> Any:
        """Return the smaller value of each lane."""
        return self.builder.select(self.builder.icmp_unsigned("<", a, b), a, b)

    def larger(self, a: Any, b: Any) -> Any:
        """Return the larger value of each lane."""
        return self.builder.select(self.builder.icmp_unsigned(">", a, b), a, b)

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call one of LLVM's own functions."""
        kind = ir.FunctionType(result, [each.type for each in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}")
        return self.builder.call(function, arguments)

    def least(self, values: Any) -> Any:
        """Return the least value of all lanes."""
        return self.call(f"vector.reduce.umin.v{LANES}i16", _SHORT, values)

    def most(self, values: Any) -> Any:
        """Return the largest value of all lanes."""
        return self.call(f"vector.reduce.umax.v{LANES}i16", _SHORT, values)


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def extend_path(
    _: Any, paths: Any, before: Any, here: Any, floor: Any, p1: Any, highest: Any,
    cost: Any, cell: Any, sums: Any, kept: Any, parts: Any,
) -> Any:  # fmt: skip
    """Extend a path as `sgm_kernels.sweep_squares` says; return the least of its new costs.

    The loop is here, since a loop of a kernel cannot keep lanes: the least of every part would have
    to be found, and compared by a branch that processors cannot guess.

    Parameters
    ----------
    paths, before, here
        The costs of paths, where those of the last pixel begin, and where the new ones do.
    floor, p1, highest
        The least cost of the last pixel, P1, and the least cost with P2 added.
    cost, cell, sums
        The volumes of costs and of sums, and the first cell of the pixel.
    kept
        The bits that stay of the sums before: all, or none if they are the first.
    parts
        How many times `LANES` disparities the pixel has.
    """
    short, word = types.uint16, types.uint64

    def generate(*given: Any) -> Any:
        lanes, builder = _Lanes(*given), given[1]
        _, start, end, floor, step, most, _, place, _, kept, parts = lanes.values
        one, two, width = (ir.Constant(_WORD, number) for number in (1, 2, LANES))
        step, most, least, mask = (lanes.all(value) for value in (step, most, floor, kept))
        lowest = cgutils.alloca_once_value(builder, ir.Constant(_SHORTS, [NONE] * LANES))
        with cgutils.for_range(builder, parts) as loop:
            done = builder.mul(loop.index, width)
            source, target, cell = (builder.add(first, done) for first in (start, end, place))
            value = lanes.smaller(lanes.load(0, source), lanes.load(0, builder.add(source, two)))
            value = builder.add(value, step)
            value = lanes.smaller(value, lanes.load(0, builder.add(source, one)))
            value = builder.sub(lanes.smaller(value, most), least)
            value = builder.add(value, builder.zext(lanes.load(6, cell, _BYTES), _SHORTS))
            lanes.store(value, 0, builder.add(target, one))
            before = builder.and_(lanes.load(8, cell), mask)
            lanes.store(builder.add(before, value), 8, cell)
            builder.store(lanes.smaller(builder.load(lowest), value), lowest)
        return lanes.least(builder.load(lowest))

    signature = short(paths, word, word, short, short, short, cost, word, sums, short, word)
    return signature, generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def least_lane(_: Any, sums: Any, cell: Any) -> Any:
    """Return the least of the lanes."""

    def generate(*given: Any) -> Any:
        lanes = _Lanes(*given)
        return lanes.least(lanes.load(0, lanes.values[1]))

    return types.uint16(sums, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def best_two(_: Any, sums: Any, cell: Any, parts: Any) -> Any:
    """Return the least sum of a pixel, where it comes first, the runner up's and the largest.

    The runner up neither is nor touches the winner; it is `NONE` if there is no other. Nothing is
    decided by branches, since processors cannot guess where the winner is.
    """
    word, number = types.uint64, types.int64
    result = types.UniTuple(number, 4)

    def generate(*given: Any) -> Any:
        lanes, (context, builder) = _Lanes(*given), given[:2]
        _, cell, parts = lanes.values
        width, none = ir.Constant(_WORD, LANES), ir.Constant(_SHORTS, [NONE] * LANES)
        zero = ir.Constant(_SHORTS, [0] * LANES)
        low, high, second = (cgutils.alloca_once_value(builder, v) for v in (none, zero, none))
        with cgutils.for_range(builder, parts) as loop:
            values = lanes.load(0, builder.add(cell, builder.mul(loop.index, width)))
            builder.store(lanes.smaller(builder.load(low), values), low)
            builder.store(lanes.larger(builder.load(high), values), high)
        least, most = lanes.least(builder.load(low)), lanes.most(builder.load(high))
        # From the last part to the first, whose first lane of this value stays.
        winner = cgutils.alloca_once_value(builder, ir.Constant(_WORD, 0))
        with cgutils.for_range(builder, parts) as loop:
            part = builder.sub(builder.sub(parts, ir.Constant(_WORD, 1)), loop.index)
            first = builder.mul(part, width)
            values = lanes.load(0, builder.add(cell, first))
            found = builder.bitcast(builder.icmp_unsigned("==", values, lanes.all(least)), _SHORT)
            lane = lanes.call("cttz.i16", _SHORT, found, ir.Constant(ir.IntType(1), 0))
            here = builder.add(first, builder.zext(lane, _WORD))
            absent = builder.icmp_unsigned("==", found, ir.Constant(_SHORT, 0))
            builder.store(builder.select(absent, builder.load(winner), here), winner)
        winner = builder.load(winner)
        with cgutils.for_range(builder, parts) as loop:
            first = builder.mul(loop.index, width)
            before = builder.sub(builder.sub(winner, first), ir.Constant(_WORD, 1))
            away = builder.sub(_NUMBERS, lanes.all(builder.trunc(before, _SHORT)))
            near = builder.icmp_unsigned("<", away, ir.Constant(_SHORTS, [3] * LANES))
            others = builder.select(near, none, lanes.load(0, builder.add(cell, first)))
            builder.store(lanes.smaller(builder.load(second), others), second)
        short = least, lanes.least(builder.load(second)), most
        least, runner_up, most = (builder.zext(value, _WORD) for value in short)
        return context.make_tuple(builder, result, (least, winner, runner_up, most))

    return result(sums, word, word), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def sum_lanes(_: Any, sums: Any, cell: Any) -> Any:
    """Return the sum of the lanes."""

    def generate(*given: Any) -> Any:
        lanes, builder = _Lanes(*given), given[1]
        wide = builder.zext(lanes.load(0, lanes.values[1]), ir.VectorType(_INT, LANES))
        return lanes.call(f"vector.reduce.add.v{LANES}i32", _INT, wide)

    return types.uint32(sums, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def better_lanes(
    _: Any, sums: Any, cell: Any, best: Any, layer: Any, place: Any, first: Any
) -> Any:
    """Write lanes of sums that are below the best so far, and their disparities from `first` on."""

    def generate(*given: Any) -> Any:
        lanes, builder = _Lanes(*given), given[1]
        _, start, _, _, index, low = lanes.values
        values, before = lanes.load(0, start), lanes.load(2, index)
        better = builder.icmp_unsigned("<", values, before)
        lanes.store(builder.select(better, values, before), 2, index)
        disparity = builder.add(_NUMBERS, lanes.all(low))
        lanes.store(builder.select(better, disparity, lanes.load(3, index)), 3, index)
        return None

    word = types.uint64
    return types.void(sums, word, best, layer, word, types.int16), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def pixel_cost_lanes(
    _: Any, word: Any, words: Any, gradient: Any, gradients: Any, start: Any,
    census_weight: Any, gradient_weight: Any, costs: Any, cell: Any,
) -> Any:  # fmt: skip
    """Write the costs of a pixel; see `cost_kernels`."""

    def generate(*given: Any) -> Any:
        lanes, builder = _Lanes(*given), given[1]
        own, _, own_gradient, _, index, bit, level, _, place = lanes.values
        differing = builder.xor(lanes.load(1, index, _WORDS), lanes.all(own, _WORDS))
        bits = lanes.call(f"ctpop.v{LANES}i64", _WORDS, differing)
        step = builder.sub(lanes.all(own_gradient), lanes.load(3, index))
        zero = ir.Constant(_SHORTS, [0] * LANES)
        step = builder.select(builder.icmp_signed("<", step, zero), builder.sub(zero, step), step)
        cost = builder.add(
            builder.mul(builder.trunc(bits, _BYTES), lanes.all(bit, _BYTES)),
            builder.mul(builder.trunc(step, _BYTES), lanes.all(level, _BYTES)),
        )
        lanes.store(cost, 7, place)
        return None

    byte, place = types.uint8, types.uint64
    signature = types.void(place, words, types.int16, gradients, place, byte, byte, costs, place)
    return signature, generate


if config.DISABLE_JIT:  # kernels are then plain Python, but an intrinsic is not
    from slanted.matching import plain_lane_kernels as plain

    best_two = plain.best_two
    better_lanes = plain.better_lanes
    extend_path = plain.extend_path
    least_lane = plain.least_lane
    pixel_cost_lanes = plain.pixel_cost_lanes
    sum_lanes = plain.sum_lanes
