import pytest

from slanted.errors import FileError


@pytest.fixture
def check_refused(capfd):
    """Return a check that a reader refuses a file by name, with a reason, and prints nothing."""

    def check(read, path, fragment):
        with pytest.raises(FileError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert fragment in str(caught.value)
        assert capfd.readouterr() == ("", "")

    return check
