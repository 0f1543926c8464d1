"""JSON and TOML: the largest files that are read, as docs/trust.md says."""

import os

import pytest

from slanted.errors import FileError
from slanted.io.texts import read_json_object, read_toml


@pytest.mark.parametrize(
    ("read", "content", "most"),
    [(read_json_object, b"{}", 16 * 2**20), (read_toml, b"", 2**19)],
)
def test_a_text_may_have_so_many_bytes_and_no_more(tmp_path, read, content, most):
    path = tmp_path / "a.txt"
    path.write_bytes(content.ljust(most))
    assert read(path) == {}
    os.truncate(path, most + 1)
    with pytest.raises(FileError, match=f"expected a file of at most {most} bytes"):
        read(path)
