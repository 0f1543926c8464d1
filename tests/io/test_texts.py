"""JSON and TOML: the largest file that is read, as docs/trust.md says, is one of 16 MB."""

import os

import pytest

from slanted.errors import FileError
from slanted.io.texts import read_json_object, read_toml


def test_a_text_may_have_16_mb_and_no_more(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"{}".ljust(16 * 2**20))
    assert read_json_object(path) == {}
    os.truncate(path, 16 * 2**20 + 1)
    for read in (read_json_object, read_toml):
        with pytest.raises(FileError, match="expected a file of at most 16777216 bytes"):
            read(path)
