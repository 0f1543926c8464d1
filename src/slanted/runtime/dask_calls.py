"""Calls that Dask workers run only if they have the versions of this process.

A call travels as bytes that are unpickled only where it runs. So a scheduler without slanted passes
it on, and a worker without slanted answers with an error. Dask's own way of sending a call would
end that worker.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

from slanted.errors import SlantedError, plural
from slanted.runtime.versions import compared_versions, differences
from slanted.runtime.workers import Task, limit_library_threads

UNPICKLING_ERRORS = (ImportError, AttributeError)
"""What a worker raises if its slanted is missing or lacks a name."""


class OtherVersionsError(SlantedError):
    """A worker has other versions than this process."""


class _Call:
    """A call that is made when it is unpickled."""

    def __init__(self, function: Task, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Task, tuple[Any, ...]]:
        return self.function, self.arguments


def packed(function: Task, arguments: tuple[Any, ...]) -> bytes:
    """Return a call as bytes; `pickle.loads` makes the call, or refuses it, and returns its value.

    Functions of the user's own script are sent with their code.
    """
    import cloudpickle

    call = _Call(_run_checked, compared_versions(), function, arguments)
    return bytes(cloudpickle.dumps(call))


def _run_checked(expected: Mapping[str, str], function: Task, arguments: tuple[Any, ...]) -> Any:
    """Run a call in a worker that has the expected versions."""
    from distributed import get_worker

    problem = differences(expected, compared_versions())
    if problem:
        raise OtherVersionsError(_refusal({get_worker().address: problem}))
    limit_library_threads(1)
    return function(*arguments)


def refuse_other_versions(client: Any, workers: Iterable[str]) -> None:
    """Raise if some of the workers do not have the versions of this process.

    Raises
    ------
    OtherVersionsError
        It names the worker and the versions.
    """
    asked = sorted(workers)
    question = pickle.dumps(_Call(compared_versions))
    answers = client.run(pickle.loads, question, workers=asked, on_error="return")
    problems = {
        worker: _problem(client, worker, answers[worker]) for worker in asked if worker in answers
    }
    problems = {worker: problem for worker, problem in problems.items() if problem}
    if problems:
        raise OtherVersionsError(_refusal(problems))


def _problem(client: Any, worker: str, answer: Any) -> str:
    if isinstance(answer, Mapping):
        return differences(compared_versions(), answer)
    if not isinstance(answer, UNPICKLING_ERRORS):
        return ""  # it has gone meanwhile
    # No slanted, or one too old to answer. Python itself knows what is installed.
    here = {"slanted": compared_versions()["slanted"]}
    installed = client.run(metadata.version, "slanted", workers=[worker], on_error="return")
    found = installed.get(worker)
    missing = not isinstance(found, str) or getattr(answer, "name", None) == "slanted"
    return differences(here, {} if missing else {"slanted": f"{found} with other code"})


def _refusal(problems: Mapping[str, str]) -> str:
    worker, problem = next(iter(problems.items()))
    others = f" ({plural(len(problems) - 1, 'other worker')} too)" if len(problems) > 1 else ""
    return (
        f"scheduler: expected workers with the same versions as here, got {problem} on "
        f"{worker}{others}; install the same versions there or stop that worker, then repeat the "
        "command"
    )
