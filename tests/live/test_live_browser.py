"""The page of a live session in a real browser."""

import re

from live.made import FakeCamera, frames
from live.showing import SETTINGS, shown, videos
from slanted.live import grabber
from slanted.live.pairs import pair_sources
from slanted.live.session import LiveSession
from viewer.browsing import expect, open_tab
from viewer.waiting import until


def open_page(context, address):
    """A tab that shows a frame."""
    tab = open_tab(context, address)
    tab.wait_for_selector("body[data-frame]")
    return tab


def frame_of(tab):
    """The number of the frame that a page shows."""
    return int(tab.locator("body").get_attribute("data-frame"))


def colours_of(tab, canvas):
    """How many colours a canvas shows."""
    return tab.evaluate(
        """(id) => {
          const { width, height } = document.getElementById(id);
          const context = document.getElementById(id).getContext("2d");
          const { data } = context.getImageData(0, 0, width, height);
          return new Set(new Uint32Array(data.buffer)).size;
        }""",
        canvas,
    )


def test_two_videos_in_the_browser(tmp_path, context):
    """Picture, cloud and rate are shown; the page follows the session to its last frame."""
    session = videos(tmp_path, 60, rate=3)
    with shown(session) as client:
        tab = open_page(context, client.address)
        expect(tab.locator("#rate")).to_contain_text("/ s")
        expect(tab.locator("#latency")).to_contain_text("frames")
        for _ in range(5):
            newest = session.newest.number
            until(lambda newest=newest: frame_of(tab) > newest, lambda: tab.wait_for_timeout(20))
        for canvas in ("image", "disparity", "confidence"):
            assert colours_of(tab, canvas) > 20
        assert int(tab.locator("#space-pane").get_attribute("data-points")) > 1000
        assert tab.locator("#counts").inner_text().endswith("points, in baselines")
        tab.keyboard.press("2")
        expect(tab.locator("#space")).to_have_attribute("data-texture", re.compile("/disparity$"))
        tab.keyboard.press(" ")
        expect(tab.locator("#notice")).to_have_text("Paused; Space goes on.")
        tab.keyboard.press(" ")
        expect(tab.locator("#notice")).to_be_hidden()
        tab.keyboard.press("t")
        tab.keyboard.press("c")
        tab.set_viewport_size({"width": 420, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= 420
        session.stop()
        tab.wait_for_selector("body[data-ended=true]")
        assert frame_of(tab) == session.newest.number
        expect(tab.locator("#notice")).to_contain_text("The run has ended after")
        assert tab.complaints == []


def test_a_killed_camera_in_the_browser(context, monkeypatch):
    monkeypatch.setattr(grabber, "RETRY_SECONDS", 0.05)
    lefts, rights = zip(*frames(4), strict=True)
    left, right = FakeCamera("camera 0", lefts, 0.05), FakeCamera("camera 1", rights, 0.05)
    session = LiveSession(pair_sources([left, right]), SETTINGS)
    with shown(session) as client:
        tab = open_page(context, client.address)
        expect(tab.locator("#trouble")).to_be_hidden()
        right.plugged.clear()
        expect(tab.locator("#trouble")).to_have_text("camera 1: lost; waiting for it")
        right.plugged.set()
        expect(tab.locator("#trouble")).to_be_hidden()
        stood = session.newest.number
        until(
            lambda: frame_of(tab) > stood + 2,
            lambda: tab.wait_for_timeout(50),
        )
        assert tab.complaints == []
