"""The strip of a batch's pairs in a real browser, with the command that shows it."""

import re

import pytest

from slanted.result import Result
from viewer.batches import FAILED, disparity_of, name_of, seconds_of, write_batch
from viewer.browsing import expect, ready
from viewer.test_browser import fact, until, viewing

PAIRS = 24
BY_TIME = sorted(range(PAIRS), key=lambda number: (seconds_of(number), number))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("strip")
    write_batch(place / "out", PAIRS)
    return place


@pytest.fixture(scope="module")
def address(folder):
    with viewing(folder, "out") as found:
        yield found


def shown(tab, number):
    """Wait until a pair is shown, in the picture and in 3D."""
    expect(tab.locator("#strip")).to_have_attribute("data-shown", name_of(number))
    expect(tab.locator("#name")).to_contain_text(name_of(number).rpartition("/")[2])
    until(tab, lambda: prefix(tab) == now_prefix(tab))


def prefix(tab):
    return (tab.locator("#space-pane").get_attribute("data-key") or "").split("-")[0]


def now_prefix(tab):
    address = tab.locator("#export").get_attribute("href")
    return re.search(r"/frames/(\w+)-", address).group(1)


def names(tab):
    """The names in the strip, from left to right."""
    return tab.evaluate(
        """() => [...document.querySelectorAll('#strip-row .frame')]
             .sort((a, b) => parseFloat(a.style.left) - parseFloat(b.style.left))
             .map((item) => item.querySelector('.pair-name').textContent)"""
    )


def test_a_pair_is_shown_without_another_server(page, folder):
    shown(page, 0)
    page.click("#pair-1")
    shown(page, 1)
    assert page.url.endswith("#pair=day%2Fpair-001")
    box = page.locator("#picture").bounding_box()
    page.locator("#picture").click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    page.wait_for_selector("#fact-pixel", state="attached")
    u, v = map(int, fact(page, "pixel").split(","))
    saved = Result.load(folder / "out" / name_of(1)).disparity
    assert float(fact(page, "disparity")) == pytest.approx(float(saved[v, u]), abs=1e-5)
    assert saved[v, u] == pytest.approx(disparity_of(1)[v, u], abs=1e-5)
    page.reload()
    ready(page)
    shown(page, 1)  # it is part of the address


def test_pairs_are_sorted_by_any_number_of_the_summary(page):
    expect(page.locator("#strip-count")).to_have_text(f"{PAIRS + 1} pairs")
    page.select_option("#strip-sort", "seconds")
    page.locator("#strip-list").focus()
    page.keyboard.press("Home")
    shown(page, BY_TIME[0])
    some = names(page)[:4]
    assert some == [name_of(number) for number in BY_TIME[:4]]
    said = page.locator(f"#pair-{BY_TIME[0]} .pair-value").text_content()
    assert float(said) == pytest.approx(seconds_of(BY_TIME[0]))
    page.click("#strip-order")
    page.keyboard.press("Home")
    page.locator("#strip-list").focus()
    page.keyboard.press("Home")
    shown(page, BY_TIME[-1])
    assert names(page)[:4] == [name_of(number) for number in BY_TIME[::-1][:4]]
    # Pairs without the number come last, whichever way the others are sorted.
    page.select_option("#strip-sort", "matched_percent")
    page.keyboard.press("Tab")
    page.evaluate("document.getElementById('strip-list').scrollLeft = 1e6")
    without = {name_of(number) for number in range(0, PAIRS, 5)} | {FAILED}
    last = until(page, lambda: FAILED in (found := names(page)) and found)
    assert set(last[-3:]) <= without
    page.select_option("#strip-sort", "name")
    page.click("#strip-order")
    page.locator("#strip-list").focus()
    page.keyboard.press("Home")
    shown(page, 0)


def test_keys_go_from_pair_to_pair(page):
    page.locator("#strip-list").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    shown(page, 2)
    active = page.locator("#strip-list").get_attribute("aria-activedescendant")
    assert active == "pair-2"
    expect(page.locator("#pair-2")).to_have_attribute("aria-selected", "true")
    page.locator("[data-layer=image]").focus()
    page.keyboard.press("k")
    shown(page, 1)
    page.keyboard.press("j")
    shown(page, 2)
    page.locator("#strip-list").focus()
    page.keyboard.press("End")  # the pair that failed, which has nothing to show
    expect(page.locator(f"#pair-{PAIRS}")).to_have_attribute("aria-selected", "true")
    expect(page.locator(f"#pair-{PAIRS}")).to_have_attribute(
        "title", "right.png: expected an image"
    )
    page.wait_for_timeout(500)
    shown(page, 2)
    page.keyboard.press("ArrowLeft")
    shown(page, PAIRS - 1)


def test_errors_that_arrive_do_not_move_the_strip(page):
    asked, measured = [], []

    def still_measuring(route):
        found = route.fetch().json()
        found |= {"left": 1, "metrics": [*found["metrics"], *measured]}
        route.fulfill(json=found)
        asked.append(found)

    def hurried(route):
        """Let the page ask five times a second instead of every other second."""
        source, found = re.subn(
            r"(?m)^const RENEW = \d+;", "const RENEW = 200;", route.fetch().text()
        )
        assert found == 1
        route.fulfill(body=source, content_type="text/javascript")

    page.route(re.compile("/api/pairs$"), still_measuring)
    page.route("**/strip.js", hurried)
    page.reload()
    ready(page)
    shown(page, 0)
    page.select_option("#strip-sort", "seconds")
    page.evaluate("document.querySelector('#strip-sort option').dataset.old = 'yes'")
    page.evaluate("document.getElementById('strip-list').scrollLeft = 1500")
    before = page.evaluate("document.getElementById('strip-list').scrollLeft")
    so_far = len(asked)
    until(page, lambda: len(asked) >= so_far + 3)  # the page has shown at least two of them
    assert page.evaluate("document.getElementById('strip-list').scrollLeft") == before
    assert page.locator("#strip-sort option[data-old]").count() == 1
    measured.append(["epe-all", "epe-all"])
    until(page, lambda: page.locator("#strip-sort option[value=epe-all]").count())
    assert page.locator("#strip-sort").input_value() == "seconds"
    assert page.evaluate("document.getElementById('strip-list').scrollLeft") == before
    page.unroute_all(behavior="wait")


def test_only_visible_pictures_are_asked_for(page):
    asked = set()
    page.on("request", lambda request: asked.add(request.url) if "/thumb" in request.url else None)
    page.select_option("#strip-kind", "image")
    page.wait_for_load_state("networkidle")
    until(page, lambda: asked)
    page.wait_for_timeout(300)
    width = page.locator("#strip-list").bounding_box()["width"]
    assert len(asked) <= width / 136 + 5
    assert page.locator("#strip-row .frame").count() <= width / 136 + 5
    page.evaluate("document.getElementById('strip-list').scrollLeft = 1e6")
    until(page, lambda: any(address.endswith(f"/{PAIRS - 1}") for address in asked))
    loaded = "all => all.every((picture) => picture.naturalWidth > 0)"
    until(page, lambda: page.locator("#strip-row img").evaluate_all(loaded))


def test_pictures_of_the_last_pair_do_not_come_late(page):
    """Whoever goes on quickly sees the pair that was chosen last."""
    held = []

    def hold(route):
        held.append(route)

    page.route(re.compile("/pairs/3/api/state"), hold)
    page.locator("#pair-1").click()
    page.evaluate("document.getElementById('strip-list').scrollLeft = 0")
    page.locator("#strip-list").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    until(page, lambda: held)
    page.keyboard.press("ArrowLeft")
    shown(page, 2)
    for route in held:
        route.continue_()
    page.wait_for_timeout(600)
    shown(page, 2)


def test_a_run_belongs_to_its_pair(page):
    page.click("#pair-1")
    shown(page, 1)
    page.uncheck("#live")
    before = int(page.locator("#job").get_attribute("data-run"))
    page.click("#run")
    page.wait_for_selector(f"#job[data-run='{before + 1}'][data-status=done]", state="attached")
    expect(page.locator("#step-title")).to_contain_text("the result")
    page.click("#pair-2")
    shown(page, 2)
    expect(page.locator("#step-title")).to_contain_text("a run records its iterations")


def test_the_view_stays_where_it_is(page):
    """Pairs of the same cameras are looked at from the same place, to be compared."""
    page.locator("#space").focus()
    page.keyboard.press("l")
    where = "document.getElementById('compass').dataset.azimuth"
    until(page, lambda: float(page.evaluate(where)) < -89)
    page.click("#pair-1")
    shown(page, 1)
    assert float(page.evaluate(where)) < -89
