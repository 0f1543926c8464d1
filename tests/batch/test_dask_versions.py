"""Workers without slanted, or with other versions, are named and refused, whenever they join."""

import json
import re
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import slanted
from batch.cluster import a_scheduler, a_worker
from slanted.batch.pairs import find_pairs
from slanted.batch.run import run_batch
from slanted.errors import SlantedError
from slanted.runtime.dask_workers import Dask
from slanted.runtime.versions import compared_versions, differences, versions

pytest.importorskip("distributed")

SOURCE = Path(slanted.__file__).parent
PACKAGES = {
    "without": "raise ModuleNotFoundError(\"No module named 'slanted'\", name='slanted')",
    "too old": "__version__ = '0.0.1'",
    "older": f"__version__ = '0.0.9'\n__path__ = [{str(SOURCE)!r}]",
}
"""What a worker finds as slanted: nothing, something that knows no versions, another version."""
OTHER_NUMBA = """
from importlib import metadata
true = metadata.version
metadata.version = lambda name: "0.1.2" if name == "numba" else true(name)
"""
REFUSED = {
    "without": r"no slanted \(here {slanted}\)",
    "too old": r"slanted \S+ with other code \(here {slanted}\)",
    "older": r"slanted 0\.0\.9 with code \w+ \(here {slanted}\)",
    "numba": r"numba 0\.1\.2 \(here {numba}\)",
}


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """A function from the name of an installation to the variables of a worker that has it."""
    root = tmp_path_factory.mktemp("installations")
    for name, source in PACKAGES.items():
        (root / name / "slanted").mkdir(parents=True)
        (root / name / "slanted" / "__init__.py").write_text(source)
    (root / "numba").mkdir()
    (root / "numba" / "sitecustomize.py").write_text(OTHER_NUMBA)
    # PYTHONPATH comes before an installed slanted; so do its own sources, for the rest.
    return lambda name: {"PYTHONPATH": f"{root / name}:{SOURCE.parent}"}


@pytest.fixture
def cluster(tmp_path):
    """A scheduler's address, and a function that starts a worker and returns its address."""
    with ExitStack() as opened:
        address, _ = opened.enter_context(a_scheduler())
        start = lambda **variables: opened.enter_context(a_worker(address, tmp_path, **variables))  # noqa: E731
        yield address, lambda **variables: start(**variables)[0]


def refusal(kind, worker):
    here = {name: re.escape(version) for name, version in compared_versions().items()}
    return rf"got {REFUSED[kind].format(**here)} on {re.escape(worker)}; install the same versions"


@pytest.mark.parametrize("kind", REFUSED)
def test_a_worker_with_other_versions_is_refused_at_the_start(cluster, environments, kind):
    address, start = cluster
    start()
    worker = start(**environments(kind))
    with pytest.raises(SlantedError, match=refusal(kind, worker)):
        Dask(address)


def test_several_are_counted(cluster, environments):
    address, start = cluster
    for _ in range(3):
        start(**environments("without"))
    with pytest.raises(SlantedError, match=r"on tcp://\S+ \(2 other workers too\); install"):
        Dask(address)


@pytest.mark.parametrize("kind", ["without", "older"])
def test_a_worker_that_joins_later_is_refused_while_others_work(cluster, environments, kind):
    address, start = cluster
    start()
    with Dask(address) as backend:
        backend.submit("long", time.sleep, 600)
        worker = start(**environments(kind))
        with pytest.raises(SlantedError, match=refusal(kind, worker)):
            backend.next()


@pytest.mark.parametrize("kind", REFUSED)
def test_a_task_that_reaches_such_a_worker_first_is_not_run(cluster, environments, kind):
    """The scheduler may be quicker to use a new worker than we to check it."""
    address, start = cluster
    start()
    with Dask(address) as backend:
        worker = start(**environments(kind))
        backend._owners[0] = worker
        backend.submit("work", time.time, owner=0)
        # Not `next`, which would look at new workers while it waits.
        future = backend._ended.get(timeout=600)
        assert future.status == "error"
        backend._ended.put(future)
        with pytest.raises(SlantedError, match=refusal(kind, worker)):
            backend.next()


def test_a_batch_keeps_what_is_done(cluster, environments, manifest, quick, tmp_path):
    address, start = cluster
    start()
    output, joined = tmp_path / "out", []

    def join(tally, record):
        if tally.done == 2 and not joined:
            joined.append(start(**environments("older")))

    with pytest.raises(SlantedError, match=r"0\.0\.9 .* on tcp://"):
        run_batch(find_pairs(manifest), output, quick, scheduler=address, progress=join)
    kept = [json.loads(file.read_text()) for file in output.rglob("record.json")]
    assert len(kept) >= 2
    assert {record["versions"]["slanted"] for record in kept} == {slanted.__version__}
    tally = run_batch(find_pairs(manifest), output, quick, workers=1, resume=True)
    assert (tally.skipped, tally.done) == (len(kept), 12 - len(kept))


def test_a_scheduler_needs_no_slanted(environments, tmp_path):
    with (
        a_scheduler(**environments("without")) as (address, _),
        a_worker(address, tmp_path),
        Dask(address) as backend,
    ):
        backend.submit("root", pow, 3, 4)
        assert backend.next().result() == 81


def test_compared_versions_ignore_what_does_not_matter(monkeypatch):
    found = {"slanted": "1", "python": "3.11.7", "opencv-python": "5.0"}
    monkeypatch.setattr("slanted.runtime.versions.versions", lambda: found)
    compared = compared_versions.__wrapped__()
    assert compared["opencv"] == "5.0"
    assert re.fullmatch(r"3\.\d+", compared["python"])
    assert compared["slanted"].startswith("1 with code ")
    assert found["python"] == "3.11.7"


def test_differences_are_named():
    here = {"slanted": "2", "numpy": "1.26", "numba": "0.60"}
    assert differences(here, here | {"scipy": "1"}) == ""
    assert differences(here, {"slanted": "1", "numpy": "1.26"}) == (
        "slanted 1 (here 2), no numba (here 0.60)"
    )
    assert versions()["slanted"] == slanted.__version__
