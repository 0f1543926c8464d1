"""Pages that show what a module serves at its ``address``, in windows of two sizes."""

import pytest

SIZES = {"wide": (1280, 850), "narrow": (420, 800)}


@pytest.fixture
def look_at(browser):
    """A function that opens a page in a window of a named size."""
    from viewer.browsing import looking_at

    def look_at(address, size, **options):
        return looking_at(browser, address, SIZES[size], **options)

    return look_at


@pytest.fixture(scope="module")
def window():
    """Options of windows, which modules may replace."""
    return {"color_scheme": "light"}


@pytest.fixture(params=SIZES)
def page(request, look_at, address, window):
    with look_at(address, request.param, **window) as tab:
        yield tab


@pytest.fixture
def wide(look_at, address, window):
    with look_at(address, "wide", **window) as tab:
        yield tab
