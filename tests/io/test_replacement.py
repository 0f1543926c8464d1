"""Files that are replaced together: a kill or an interrupt at any moment leaves the old or the new."""

import json
import os
import signal
import sys
import threading

import pytest

from slanted.errors import FileError
from slanted.io.locks import locked_folder
from slanted.io.replacement import (
    complete_replacement,
    own_folder,
    read_settled,
    replaced_files,
)

OLD = {"run.json": "old", "disparity.npy": "old", "cloud.ply": "old"}
NEW = {"run.json": "new", "disparity.npy": "new", "left.png": "new"}
MINE = {"notes.txt": "mine"}
STALE = ("run.json", "cloud.ply", "depth.npy")
CALLS = ("rename", "replace", "unlink", "rmdir", "mkdir", "remove", "fsync")


def write(folder, files):
    for name, content in files.items():
        (folder / name).write_text(content)


def read(folder):
    return {file.name: file.read_text() for file in folder.iterdir() if file.is_file()}


def replace_with(folder, files, **options):
    with own_folder(folder), replaced_files(folder, STALE, **options) as staging:
        write(staging, files)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "out"
    replace_with(place, OLD)
    write(place, MINE)
    return place


def test_new_files_take_the_place_of_old_ones_and_leave_the_users_own(folder):
    replace_with(folder, NEW)
    assert read(folder) == NEW | MINE
    assert [path for path in folder.iterdir() if path.is_dir()] == []


class Stop:
    """Stands in for functions of `os` and stops at the n-th call, before or after it."""

    def __init__(self, number, after, stop):
        self.left, self.after, self.stop = number, after, stop

    def wrap(self, call):
        def stopping(*args, **options):
            self.left -= 1
            is_now = self.left == 0
            if is_now and not self.after:
                self.stop()
            try:
                return call(*args, **options)
            finally:
                if is_now and self.after:
                    self.stop()

        return stopping


def stopped(monkeypatch, folder, number, after, stop):
    """Replace OLD by NEW; stop at a call; return whether there were that many calls."""
    counter = Stop(number, after, stop)
    with monkeypatch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, counter.wrap(getattr(os, name)))
        replace_with(folder, NEW)
    return counter.left <= 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_call_the_folder_is_whole_after_the_next_one(monkeypatch, tmp_path, after):
    seen = set()
    for number in range(1, 100):
        place = tmp_path / f"{number}"
        replace_with(place, OLD)
        write(place, MINE)
        child = os.fork()
        if child == 0:
            found = 1
            try:
                kill = lambda: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
                found = 0 if not stopped(monkeypatch, place, number, after, kill) else 1
            finally:
                os._exit(found)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            break
        if number % 2:
            complete_replacement(place)  # as every reader of a result does
        else:
            with own_folder(place):  # as a run does at its start
                pass
        left = read(place)
        assert left in (OLD | MINE, NEW | MINE), number
        seen.add(left["run.json"])
        with own_folder(place):  # as the next run does
            pass
        assert read(place) == left
        assert not [path for path in place.iterdir() if path.is_dir()], number
    else:
        pytest.fail("it never came to its end")
    assert number > 10
    assert seen == {"old", "new"}


@pytest.mark.parametrize("after", [False, True])
def test_interrupted_at_any_call_nothing_is_left_over(monkeypatch, tmp_path, after):
    def interrupt():
        raise KeyboardInterrupt

    for number in range(1, 100):
        place = tmp_path / f"{number}"
        replace_with(place, OLD)
        write(place, MINE)
        try:
            if not stopped(monkeypatch, place, number, after, interrupt):
                break
        except KeyboardInterrupt:
            pass
        assert read(place) in (OLD | MINE, NEW | MINE), number
        assert not [path for path in place.iterdir() if path.is_dir()], number
    else:
        pytest.fail("it never came to its end")
    assert number > 10


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError, OSError])
def test_a_run_that_fails_removes_only_what_it_wrote(tmp_path, kind):
    place = tmp_path / "new" / "out"

    def fail():
        with own_folder(place), replaced_files(place, STALE) as staging:
            write(staging, NEW)
            write(place, MINE)  # the user, or another program, meanwhile
            raise kind

    with pytest.raises(kind):
        fail()
    assert read(place) == MINE
    assert len(list(place.iterdir())) == 1


def test_a_run_that_fails_leaves_no_folder_of_its_own(tmp_path):
    with pytest.raises(RuntimeError), own_folder(tmp_path / "new" / "out"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_appears_with_all_its_files(tmp_path):
    with replaced_files(tmp_path / "pair", STALE, inside=tmp_path) as staging:
        write(staging, NEW)
        assert not (tmp_path / "pair").exists()
    assert read(tmp_path / "pair") == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["pair"]


def test_a_file_that_cannot_be_replaced_changes_nothing(folder):
    (folder / "left.png").mkdir()
    with pytest.raises(FileError, match=r"left\.png: expected a file to replace"):
        replace_with(folder, NEW)
    assert read(folder) == OLD | MINE


def test_errors_name_the_users_folder_not_a_hidden_one(folder):
    with (
        pytest.raises(FileError) as caught,
        own_folder(folder),
        replaced_files(folder, STALE) as staging,
    ):
        raise FileError(staging / "disparity.npy", "cannot be written (no space left on device)")
    assert caught.value.path == folder / "disparity.npy"


def test_only_one_run_at_a_time_may_write_to_a_folder(folder):
    with own_folder(folder), pytest.raises(FileError, match="another run is writing"):
        replace_with(folder, NEW)
    assert read(folder) == OLD | MINE
    replace_with(folder, NEW)
    assert read(folder) == NEW | MINE


def test_a_reader_waits_for_files_that_are_being_moved(folder):
    hidden = folder / ".0123456789ab.replacing"
    hidden.mkdir()
    write(hidden, {"run.json": "new", "stale.json": json.dumps({"stale": ["cloud.ply"]})})
    with locked_folder(folder) as is_mine:
        assert is_mine
        reader = threading.Thread(target=complete_replacement, args=(folder,))
        reader.start()
        reader.join(0.2)
        assert reader.is_alive()
        assert read(folder) == OLD | MINE
    reader.join(30)
    assert read(folder) == {"run.json": "new", "disparity.npy": "old"} | MINE


STRANGE = {
    "names of others": {"stale": ["notes.txt", "thesis.tex", "../outside.txt", "..", 7, None]},
    "a number": {"stale": 5},
    "half a character": {"stale": ["\ud800"]},
    "nothing": {},
}


@pytest.mark.parametrize("content", STRANGE)
def test_a_strangers_list_removes_nothing_of_the_users(folder, tmp_path, content):
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    hidden = folder / ".0123456789ab.replacing"
    hidden.mkdir()
    (hidden / "stale.json").write_text(json.dumps(STRANGE[content]))
    complete_replacement(folder)
    assert read(folder) == OLD | MINE
    assert outside.read_text() == "mine"
    assert not hidden.exists()


def test_a_list_torn_by_a_power_failure_blocks_nothing(folder):
    hidden = folder / ".0123456789ab.replacing"
    hidden.mkdir()
    write(hidden, {"stale.json": "", "run.json": "new"})
    replace_with(folder, NEW)
    assert read(folder) == NEW | MINE


def test_files_that_slanted_never_writes_are_not_moved(folder):
    hidden = folder / ".0123456789ab.replacing"
    hidden.mkdir()
    write(hidden, {"notes.txt": "theirs", "run.json": "theirs"})
    complete_replacement(folder)
    assert read(folder) == OLD | MINE


def test_a_lock_ends_although_a_forked_process_has_its_file(folder):
    with locked_folder(folder):
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
    try:
        with locked_folder(folder) as is_mine:
            assert is_mine
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_errors_of_other_things_in_the_block_stay_what_they_are(folder):
    with pytest.raises(ConnectionRefusedError), own_folder(folder), replaced_files(folder, STALE):
        raise ConnectionRefusedError(111, "Connection refused")
    assert read(folder) == OLD | MINE


def test_what_is_replaced_while_it_is_read_is_read_again(folder):
    replaced = iter([True, False])

    def reading():
        first = (folder / "run.json").read_text()
        if next(replaced):
            replace_with(folder, NEW)
        return first, (folder / "disparity.npy").read_text()

    assert read_settled(folder, reading) == ("new", "new")


def test_a_link_that_looks_like_ours_is_not_followed(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere, {"run.json": "theirs"})
    (folder / ".ba9876543210.replacing").symlink_to(elsewhere, target_is_directory=True)
    complete_replacement(folder)
    assert read(elsewhere) == {"run.json": "theirs"}
    assert read(folder) == OLD | MINE


@pytest.mark.parametrize("fsync", [True, False])
def test_files_are_on_the_disk_before_they_are_moved(monkeypatch, folder, fsync):
    told = []
    for name in ("fsync", "rename"):
        call = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, n=name, c=call: told.append(n) or c(*a))
    replace_with(folder, NEW, fsync=fsync)
    synced = told[: told.index("rename")].count("fsync")
    assert synced == (len(NEW) + 2 if fsync else 0)  # and the list of stale files, and the folder


def test_what_killed_processes_left_is_removed_and_nothing_else(folder):
    (folder / ".0123456789ab.partial").mkdir()
    (folder / ".disparity.0123456789ab.partial.npy").write_text("half")
    kept = (folder / ".my.partial", folder / "0123456789ab.partial")
    for path in kept:
        path.write_text("mine")
    with own_folder(folder):
        pass
    assert {path.name for path in folder.iterdir()} == {*OLD, *MINE, *(path.name for path in kept)}
