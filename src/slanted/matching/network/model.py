"""ONNX files, run by ONNX Runtime or by OpenCV.

Opened models are kept, because opening one may take longer than running it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError, first_line
from slanted.runtime.extras import how_to_install, require

Tensors = dict[str, NDArray[Any]]
KEPT = 2
"""Models that are kept open; each may take gigabytes."""
LARGEST_GRAPH = 2**31
"""Bytes of a protocol buffer, which an ONNX file is; larger networks have their weights beside."""
ONNX_CURE = (
    f"which is not installed; {how_to_install('onnx')}, or set matching.network.runtime to opencv"
)
TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}
"""Types of inputs that images can be given as."""


@dataclass(frozen=True)
class Input:
    """An input of a model."""

    name: str
    shape: tuple[int | None, ...]
    """None for sides of any length."""
    kind: str = "tensor(float)"
    """Its type, as ONNX Runtime calls it."""


@dataclass(frozen=True, eq=False)
class Model:
    """A model that is ready to run."""

    path: Path
    inputs: tuple[Input, ...] | None
    """None if the runtime does not tell them."""
    outputs: tuple[str, ...]
    compute: Callable[[Tensors, list[str]], list[NDArray[Any]]]

    def run(self, tensors: Tensors, wanted: list[str]) -> list[NDArray[np.float32]]:
        """Return the wanted outputs.

        Raises
        ------
        FileError
            If the model fails on these inputs.
        """
        try:
            found = self.compute(tensors, wanted)
        # The errors of the runtimes have no base of their own.
        except Exception as error:
            sizes = ", ".join(f"{name} {list(each.shape)}" for name, each in tensors.items())
            raise FileError(
                self.path,
                f"the network fails on {sizes} ({first_line(error)}); describe its inputs in a "
                "TOML file beside it",
            ) from error
        return [np.asarray(each, np.float32) for each in found]


def open_model(path: Path, runtime: str, threads: int) -> Model:
    """Return the model of a file; one that was opened before, and has not changed, is kept.

    Parameters
    ----------
    path
        An ONNX file.
    runtime
        ``onnxruntime``, ``opencv``, or ``auto`` for the first of them that is installed.
    threads
        Threads that ONNX Runtime may use; OpenCV has its own limit.

    Raises
    ------
    FileError
        If it is no ONNX model, or one that the runtime cannot run.
    MissingExtraError
        If ONNX Runtime is asked for and not installed.
    """
    from slanted.io.files import open_input

    with open_input(path) as file:  # refuses what is no regular file
        found = os.fstat(file.fileno())
    if found.st_size == 0 or found.st_size > LARGEST_GRAPH:
        raise FileError(
            path, f"expected an ONNX model of 1 byte to 2 GiB, but it has {found.st_size} bytes"
        )
    if runtime == "auto":
        runtime = "onnxruntime" if find_spec("onnxruntime") is not None else "opencv"
    try:
        key = path.resolve(), found.st_mtime_ns, found.st_size
        return replace(_opened(*key, runtime, threads), path=path)
    except FileError as error:
        raise FileError(path, error.problem) from error  # as the user names it


def _open(path: Path, _changed: int, _size: int, runtime: str, threads: int) -> Model:
    return _with_onnxruntime(path, threads) if runtime == "onnxruntime" else _with_opencv(path)


_opened = lru_cache(KEPT)(_open)


def _with_onnxruntime(path: Path, threads: int) -> Model:
    onnxruntime = require(
        "onnxruntime", "ONNX Runtime", "matching.network.runtime needs", ONNX_CURE
    )
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # a library prints nothing
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that wait for the next pair would take the cores of the stages between.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.use_deterministic_compute = True
    try:
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    # Its errors have no base of their own.
    except Exception as error:
        raise FileError(
            path,
            f"expected an ONNX model, but ONNX Runtime cannot open it ({first_line(error)}); "
            "export the network again",
        ) from error
    inputs = tuple(
        Input(each.name, tuple(n if isinstance(n, int) else None for n in each.shape), each.type)
        for each in session.get_inputs()
    )
    outputs = tuple(each.name for each in session.get_outputs())
    return Model(path, inputs, outputs, lambda tensors, wanted: session.run(wanted, tensors))


def _with_opencv(path: Path) -> Model:
    from slanted.runtime.opencv import cv2, silenced

    try:
        with silenced():
            network = cv2.dnn.readNetFromONNX(str(path))
    except cv2.error as error:
        raise FileError(
            path,
            "expected an ONNX model that OpenCV can run, but it cannot open it "
            f"({first_line(error)}); {how_to_install('onnx')} for ONNX Runtime, or export the "
            "network again",
        ) from error
    alone = threading.Lock()  # the network holds its inputs

    def compute(tensors: Mapping[str, NDArray[Any]], wanted: list[str]) -> list[NDArray[Any]]:
        with alone, silenced():
            for name, tensor in tensors.items():
                network.setInput(tensor, name)
            return [np.array(each) for each in network.forward(wanted)]

    return Model(path, None, tuple(network.getUnconnectedOutLayersNames()), compute)


def _leave_sessions() -> None:
    """Let a forked process open models anew.

    It has the sessions of its parent, but not their threads, for which the end of a session waits:
    they must never end. (ONNX Runtime itself waits for them in a forked process that ends by
    ``exit``, not by ``os._exit`` as those of multiprocessing do.)
    """
    global _opened  # noqa: PLW0603
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_opened))
    _opened = lru_cache(KEPT)(_open)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_sessions)
