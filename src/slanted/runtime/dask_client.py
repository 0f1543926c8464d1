"""The one place that connects to a Dask scheduler."""

from __future__ import annotations

from typing import Any

from slanted.errors import InputError

ANSWER_SECONDS = 10
"""How long a scheduler may take to answer."""


def connect(address: str) -> Any:
    """Return a client of a scheduler that has workers.

    Parameters
    ----------
    address
        Of the scheduler, as in ``tcp://host:8786``.

    Raises
    ------
    InputError
        If Dask is not installed, nothing answers, or there are no workers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "scheduler: expected the package `distributed`, which is not installed; run "
            "`pip install slanted[dask]`, or leave the scheduler out"
        ) from None
    try:
        client = Client(address, timeout=ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(
            f"scheduler: expected a Dask scheduler at {address}, got no answer ({error}); "
            "start it with `dask scheduler` and check the address"
        ) from error
    if not workers_of(client):
        client.close()
        raise InputError(
            f"scheduler: expected workers at {address}, got none; start `dask worker {address}`"
        )
    return client


def workers_of(client: Any) -> dict[str, dict[str, Any]]:
    """Return what the scheduler knows of each worker, by address."""
    workers: dict[str, dict[str, Any]] = client.scheduler_info(n_workers=-1)["workers"]
    return workers
