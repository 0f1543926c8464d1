"""Runs in the background: the newest wins, and nothing that was cancelled is published."""

from threading import Event
from types import SimpleNamespace

import pytest

import slanted
from slanted.viewer.cache import Cache
from slanted.viewer.jobs import Jobs
from viewer.waiting import PATIENCE, until

SETTINGS = slanted.Settings()


class Steps:
    """Work that goes on until it is let go, and looks at the stop only then."""

    def __init__(self, name):
        self.name, self.started, self.go_on, self.ended = name, Event(), Event(), Event()

    def __call__(self, stage, watch):
        self.started.set()
        assert self.go_on.wait(PATIENCE)
        self.ended.set()
        stage("inference")
        return SimpleNamespace(seconds={"all": 1.0}, name=self.name)


@pytest.fixture
def published():
    return []


@pytest.fixture
def jobs(published):
    made = Jobs(lambda number, result, _: published.append((number, result.name)), lambda: None)
    yield made
    made.cancel()
    made.wait(PATIENCE)


def ends(jobs, status):
    until(lambda: jobs.state.status == status and jobs._thread is None)
    return jobs.state.number


def test_the_newest_of_many_takes_the_place_of_all(jobs, published):
    works = [Steps(k) for k in range(5)]
    assert jobs.start(works[0], SETTINGS)
    assert works[0].started.wait(PATIENCE)
    assert not jobs.start(works[1], SETTINGS)
    for work in works[1:]:
        assert jobs.start(work, SETTINGS, replace=True)
    assert not works[0].ended.is_set()  # nobody waits for the first one
    for work in works:
        work.go_on.set()
    assert ends(jobs, "done") == 5
    assert published == [(5, 4)]
    assert not works[2].started.is_set()


def test_cancel_ends_the_one_that_waits_as_well(jobs, published):
    first, second = Steps("first"), Steps("second")
    jobs.start(first, SETTINGS)
    assert first.started.wait(PATIENCE)
    jobs.start(second, SETTINGS, replace=True)
    jobs.cancel(2)
    assert jobs.state.status == "cancelled"
    first.go_on.set()
    assert ends(jobs, "cancelled") == 2
    assert not second.started.is_set()
    assert published == []


def test_cancel_of_an_older_run_leaves_the_newer_one(jobs, published):
    first, second = Steps("first"), Steps("second")
    jobs.start(first, SETTINGS)
    assert first.started.wait(PATIENCE)
    jobs.start(second, SETTINGS, replace=True)
    jobs.cancel(1)  # of a page that does not know of the second yet
    first.go_on.set()
    second.go_on.set()
    ends(jobs, "done")
    assert published == [(2, "second")]


def test_a_run_may_follow_at_once_on_one_that_was_cancelled_while_it_waited(jobs, published):
    first, second, third = Steps("first"), Steps("second"), Steps("third")
    jobs.start(first, SETTINGS)
    assert first.started.wait(PATIENCE)
    jobs.start(second, SETTINGS, replace=True)
    jobs.cancel()
    assert jobs.start(third, SETTINGS)
    first.go_on.set()
    third.go_on.set()
    assert ends(jobs, "done") == 3
    assert published == [(3, "third")]


def test_a_run_that_breaks_does_not_end_those_after_it(jobs, published, capsys):
    def broken(stage, watch):
        raise RuntimeError("nothing works")

    jobs.start(broken, SETTINGS)
    ends(jobs, "failed")
    assert jobs.state.text == "RuntimeError: nothing works"
    assert "nothing works" in capsys.readouterr().err
    work = Steps("next")
    work.go_on.set()
    assert jobs.start(work, SETTINGS)
    ends(jobs, "done")
    assert published == [(2, "next")]


def test_caches_do_not_let_one_wait_for_another():
    cache, go_on, inside = Cache(10), Event(), Event()

    def slow():
        inside.set()
        assert go_on.wait(PATIENCE)
        return "slow"

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(cache.get, "a", "slow", slow) for _ in range(2)]
        assert inside.wait(PATIENCE)
        assert cache.get("a", "quick", lambda: "quick") == "quick"
        go_on.set()
        assert [each.result() for each in asked] == ["slow", "slow"]
    cache.keep_only({"b"})
    assert len(cache) == 0
    with pytest.raises(ZeroDivisionError):
        cache.get("b", "broken", lambda: 1 / 0)
    assert cache.get("b", "broken", lambda: 3) == 3
