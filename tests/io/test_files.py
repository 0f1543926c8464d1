import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import slanted
from slanted.errors import FileError
from slanted.io import atomic_path, read_bytes, write_bytes
from slanted.io.files import KEPT_DIGESTS, _content_digest, append_bytes, file_digest

posix_only = pytest.mark.skipif(os.name != "posix", reason="umask, links and pipes are POSIX's")


def test_bytes_round_trip_and_parents_are_created(tmp_path):
    target = tmp_path / "a" / "b" / "data.bin"
    write_bytes(target, b"\0\1\2")
    assert read_bytes(target) == b"\0\1\2"
    assert [p.name for p in target.parent.iterdir()] == ["data.bin"]


@pytest.mark.parametrize(
    ("make", "fragment"),
    [
        (lambda p: None, "nothing is there"),
        (lambda p: p.mkdir(), "it is a directory"),
        (lambda p: p.touch(), "empty (0 bytes)"),
    ],
)
def test_read_names_what_is_wrong(tmp_path, make, fragment):
    path = tmp_path / "thing.png"
    make(path)
    with pytest.raises(FileError, match=r"thing\.png: ") as caught:
        read_bytes(path)
    assert fragment in str(caught.value)


def test_a_file_may_be_as_large_as_allowed_and_no_larger(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"12345")
    assert read_bytes(path, 5) == b"12345"
    with pytest.raises(FileError, match="expected a file of at most 4 bytes, but it has 5"):
        read_bytes(path, 4)


def test_read_unreadable(tmp_path, monkeypatch):
    def deny(path, flags):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    (tmp_path / "secret.png").touch()
    monkeypatch.setattr(os, "open", deny)
    with pytest.raises(FileError, match="may not be read"):
        read_bytes(tmp_path / "secret.png")


def test_read_refuses_a_null_byte_in_the_name():
    with pytest.raises(FileError, match="cannot be read"):
        read_bytes("a\0b")


@posix_only
def test_digests_of_what_cannot_be_read_are_empty(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    assert file_digest(tmp_path / "pipe") == file_digest(tmp_path / "missing") == ""
    assert len(file_digest(tmp_path / "empty")) == 24


def test_digests_of_all_files_of_a_long_batch_are_not_kept(tmp_path):
    for number in range(KEPT_DIGESTS + 10):
        file = tmp_path / str(number)
        file.write_bytes(b"")
        file_digest(file)
    assert _content_digest.cache_info().currsize <= KEPT_DIGESTS


class BoomError(Exception):
    pass


@pytest.mark.parametrize("kind", [BoomError, KeyboardInterrupt])
def test_failure_leaves_neither_file_nor_directories(tmp_path, kind):
    with pytest.raises(kind), atomic_path(tmp_path / "new" / "deep" / "x.png") as temporary:
        temporary.write_bytes(b"half")
        raise kind
    assert list(tmp_path.iterdir()) == []


def test_failure_keeps_directories_that_were_there(tmp_path):
    (tmp_path / "old").mkdir()
    with pytest.raises(BoomError), atomic_path(tmp_path / "old" / "new" / "x.png"):
        raise BoomError
    assert [p.name for p in tmp_path.rglob("*")] == ["old"]


def test_failure_leaves_the_existing_file(tmp_path):
    target = tmp_path / "x.png"
    target.write_bytes(b"before")
    with pytest.raises(BoomError), atomic_path(target) as temporary:
        temporary.write_bytes(b"after")
        assert target.read_bytes() == b"before"
        raise BoomError
    assert target.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["x.png"]


def test_temporary_path_is_a_hidden_sibling_with_the_suffix(tmp_path):
    with atomic_path(tmp_path / "x.tiff") as first, atomic_path(tmp_path / "x.tiff") as second:
        assert first != second
        assert first.parent == tmp_path
        assert first.name.startswith(".")
        assert first.suffix == ".tiff"
        first.touch()
        second.touch()


@posix_only
def test_permissions_follow_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_bytes(tmp_path / "x", b"1")
    finally:
        os.umask(old)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


@posix_only
def test_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@posix_only
def test_unwritable_targets(tmp_path):
    (tmp_path / "file").write_bytes(b"1")
    os.mkfifo(tmp_path / "pipe")
    for path, fragment in [
        (tmp_path, "it is a directory"),
        (tmp_path / "file" / "x.png", "a part of its path is a file"),
        (tmp_path / "pipe", "device or pipe"),
        (tmp_path / ("n" * 300), "cannot be written"),
        ("a\0b", "cannot be written"),
    ]:
        with pytest.raises(FileError) as caught:
            write_bytes(path, b"1")
        assert fragment in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "pipe"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_errors_of_the_system_become_file_errors(tmp_path, number):
    with pytest.raises(FileError, match="cannot be written"), atomic_path(tmp_path / "d" / "x"):
        raise OSError(number, os.strerror(number))
    assert list(tmp_path.iterdir()) == []


def test_errors_of_other_files_pass_through(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "x"):
        Path(tmp_path / "other").read_bytes()


def test_a_block_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(FileError, match="cannot be written"), atomic_path(tmp_path / "x"):
        pass


def output_of(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_import_is_lazy():
    heavy = "('cv2', 'numba', 'skimage', 'yaml')"
    code = "import sys, slanted.io; slanted.io.Calibration;"
    assert output_of(f"{code} print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_lines_are_appended_whole_or_not_at_all(tmp_path):
    file = tmp_path / "lines"
    append_bytes(file, b"one\n")
    append_bytes(file, b"two\n")
    assert file.read_bytes() == b"one\ntwo\n"
    with pytest.raises(FileError, match="cannot be written"):
        append_bytes(tmp_path, b"three\n")


@posix_only
def test_a_full_disk_leaves_no_part_of_a_line(tmp_path):
    file = tmp_path / "lines"
    file.write_bytes(b"one\n")
    code = (
        "import resource; from pathlib import Path; from slanted.errors import FileError\n"
        "from slanted.io.files import append_bytes\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
        f"try: append_bytes(Path({str(file)!r}), b'x' * 20)\n"
        "except FileError as error: print('refused' if 'cannot be written' in str(error) else '')"
    )
    assert output_of(code) == "refused"
    assert file.read_bytes() == b"one\n"


def test_every_exported_name_resolves():
    # In a fresh process and in this order, `write_ply` loads the module that holds `point_cloud`.
    code = (
        "import slanted.io as io; names = reversed(io.__all__);"
        "print([n for n in names if type(getattr(io, n)).__name__ == 'module'])"
    )
    assert output_of(code) == "[]"


def test_files_of_users_are_opened_in_one_place():
    """Whatever else reads a file reads its own: of this machine, of the package, of a run."""
    own = {
        "runtime/compilation.py", "runtime/kernel_cache.py", "runtime/memory.py",
        "research/experiments/provenance.py", "research/experiments/measurements.py",
        "research/tuning/search_space.py", "runtime/kernel_list.py", "settings/tree.py",
        "viewer/responses.py", "runtime/versions.py",
        "cli/terminal.py",  # standard streams
        "ros/bag_writer.py",  # opens a recording to write
    }  # fmt: skip
    root = Path(slanted.__file__).parent
    reading = re.compile(r"\.read_(bytes|text)\(|(?<![\w.])open\(|\.open\((\"r|'r|\))")
    found = {
        str(file.relative_to(root))
        for file in root.rglob("*.py")
        if any(reading.search(line) for line in file.read_text("utf-8").splitlines())
    }
    assert found == own
