"""ONNX graphs for tests: a block matcher, and small ones that show what a network is given."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="onnx, which makes the networks of the tests, is missing")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

FLOAT, BYTE = TensorProto.FLOAT, TensorProto.UINT8
SIDES = ("height", "width")


def save(path, nodes, inputs, outputs, constants=None, kind=FLOAT):
    """Write a graph; `inputs` and `outputs` are shapes by name."""
    named = [
        [helper.make_tensor_value_info(name, type_, shape) for name, shape in tensors.items()]
        for tensors, type_ in ((inputs, kind), (outputs, FLOAT))
    ]
    weights = [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()]
    graph = helper.make_graph(nodes, "test", *named, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path


def block_matcher(path, disparities=24, radius=2, channels=3, names=("left", "right")):
    """Write a block matcher: the least sum of absolute differences over a window."""
    node, nodes, costs = helper.make_node, [], []
    left, right = names
    constants = {"zero": [0], "columns": [3], "channels": [1]}
    for d in range(disparities):
        constants[f"pads{d}"] = [0, 0, 0, d, 0, 0, 0, 0]
        constants[f"end{d}"] = [-d if d else 2**31 - 1]
        nodes += [
            node("Pad", [right, f"pads{d}"], [f"padded{d}"], mode="edge"),
            node("Slice", [f"padded{d}", "zero", f"end{d}", "columns"], [f"moved{d}"]),
            node("Sub", [left, f"moved{d}"], [f"difference{d}"]),
            node("Abs", [f"difference{d}"], [f"absolute{d}"]),
            node("ReduceSum", [f"absolute{d}", "channels"], [f"sum{d}"]),
            node("AveragePool", [f"sum{d}"], [f"cost{d}"], kernel_shape=[2 * radius + 1] * 2,
                 pads=[radius] * 4, count_include_pad=1),
        ]  # fmt: skip
        costs.append(f"cost{d}")
    nodes += [
        node("Concat", costs, ["volume"], axis=1),
        node("ArgMin", ["volume"], ["best"], axis=1),
        node("Cast", ["best"], ["disparity"], to=FLOAT),
    ]
    shape = (1, channels, *SIDES)
    constants = {name: np.array(value, np.int64) for name, value in constants.items()}
    return save(path, nodes, dict.fromkeys(names, shape), {"disparity": (1, 1, *SIDES)}, constants)


def naive_block_matcher(left, right, disparities=24, radius=2):
    """Do the same for whole grey levels in (H, W, C), pixel by pixel of the window."""
    height, width = left.shape[:2]
    costs = []
    for d in range(disparities):
        columns = np.clip(np.arange(width) - d, 0, None)
        difference = np.abs(left.astype(int) - right[:, columns].astype(int)).sum(axis=2)
        padded = np.pad(difference, radius)
        costs.append(
            sum(
                padded[y : y + height, x : x + width]
                for y in range(2 * radius + 1)
                for x in range(2 * radius + 1)
            )
        )
    return np.argmin(costs, axis=0).astype(np.float32)


def weighted(path, weights, shape=(1, 3, *SIDES), name="left", other="right", **more):
    """Write a network whose disparity is a weighted sum of its channels, to see what it is given.

    The other input, if there is one, counts nothing.
    """
    node = helper.make_node
    inputs = {name: shape} | ({} if other is None else {other: shape})
    constants = {"weights": np.array(weights, np.float32).reshape(1, len(weights), 1, 1)}
    nodes = [node("Conv", [name, "weights"], ["seen" if other else "disparity"])]
    if other:
        constants["nothing"] = np.zeros((1, len(weights), 1, 1), np.float32)
        nodes += [
            node("Conv", [other, "nothing"], ["ignored"]),
            node("Add", ["seen", "ignored"], ["disparity"]),
        ]
    return save(path, nodes, inputs, {"disparity": (1, 1, *shape[2:])}, constants, **more)
