"""The 3D view in a real browser: what it shows and measures is what the result has."""

import dataclasses
import itertools
import json

import cv2
import numpy as np
import pytest

from slanted.output.pictures import cividis, viridis
from slanted.viewer.maps import colour_normals
from viewer.browsing import expect, ready
from viewer.client import served
from viewer.test_browser import changes, fact, seen, until
from viewer.worlds import CAMERAS, estimated, session, sure

RESULT = dataclasses.replace(sure(estimated()[0]), calibration=CAMERAS)
HEIGHT, WIDTH = RESULT.disparity.shape
PLACES = ((0.5, 0.5), (0.42, 0.55), (0.57, 0.62), (0.55, 0.4))


@pytest.fixture(scope="module")
def address():
    with served(session(confidence=True)) as client:
        yield client.address


def points():
    """The points of the result, by pixel."""
    positions, _ = RESULT.points(0.0)
    assert len(positions) == RESULT.disparity.size  # none is left out
    return positions.reshape(HEIGHT, WIDTH, 3).astype(np.float64)


def click(tab, x, y):
    """Click the 3D view at shares of its width and height."""
    box = tab.locator("#space").bounding_box()
    tab.locator("#space").click(position={"x": x * box["width"], "y": y * box["height"]})


def colour_at(tab, x, y):
    picture = seen(tab, "#space")
    return picture[round(y * picture.shape[0]), round(x * picture.shape[1]), ::-1].astype(int)


def covered(tab):
    """Where the 3D view shows the scene, not the background, which may be dark or light."""
    picture = seen(tab, "#space").astype(int)
    return np.abs(picture - picture[3, 3]).max(axis=2) > 12


def pixel_at(tab, x, y):
    """The pixel that a click in 3D finds; it is let go again, with its marks."""
    click(tab, x, y)
    expect(tab.locator("#facts")).to_be_visible()  # hidden, they are those of the last pixel
    found = tuple(map(int, fact(tab, "pixel").split(",")))
    tab.keyboard.press("Escape")
    expect(tab.locator("#facts")).to_be_hidden()
    return found


def measured(tab):
    """The ends of the measured distance and the distance, once it is there."""
    tab.wait_for_selector("#measured[data-value]")
    label = tab.locator("#measured")
    ends = json.loads(label.get_attribute("data-ends"))
    return ends, float(label.get_attribute("data-value")), label.inner_text()


def distance(ends):
    one, other = (points()[v, u] for u, v in ends)
    return float(np.linalg.norm(one - other))


def test_a_distance_is_that_of_the_points_of_the_result(page):
    page.click("#camera")
    page.click("#measure")
    expect(page.locator("#measured")).to_contain_text("pick two points")
    click(page, 0.42, 0.55)
    expect(page.locator("#measured")).to_contain_text("the other end")
    click(page, 0.6, 0.45)
    ends, value, text = measured(page)
    assert ends[0] != ends[1]
    assert value == pytest.approx(distance(ends), rel=1e-5)
    assert f"{value:.4g}"[:4] in text
    assert " m " in text
    assert "±" in text  # the result has a deviation
    page.keyboard.press("Escape")
    expect(page.locator("#measured")).to_be_hidden()
    expect(page.locator("#measure")).to_have_attribute("aria-pressed", "false")


def test_a_distance_can_be_measured_with_keys_alone(page):
    page.locator("#space").focus()
    for key in ("c", "m", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#measured")).to_contain_text("the other end")
    for key in ("Shift+ArrowRight", "Shift+ArrowUp", "Enter"):
        page.keyboard.press(key)
    ends, value, _ = measured(page)
    assert ends[1][0] > ends[0][0]
    assert ends[1][1] < ends[0][1]
    assert value == pytest.approx(distance(ends), rel=1e-5)


def test_an_end_may_be_picked_in_the_picture(wide):
    wide.click("#measure")
    box = wide.locator("#picture").bounding_box()
    for x in (0.3, 0.7):
        wide.mouse.click(box["x"] + x * box["width"], box["y"] + 0.5 * box["height"])
        expect(wide.locator("#measured")).not_to_contain_text("pick two points")
    ends, value, _ = measured(wide)
    assert value == pytest.approx(distance(ends), rel=1e-5)


def test_without_a_calibration_the_unit_is_the_baseline(look_at):
    with served(session(calibration=None)) as client, look_at(client.address, "wide") as tab:
        tab.click("#camera")
        tab.click("#measure")
        click(tab, 0.45, 0.5)
        expect(tab.locator("#measured")).to_contain_text("the other end")
        click(tab, 0.55, 0.5)
        ends, value, text = measured(tab)
        positions, _ = dataclasses.replace(RESULT, calibration=None).points(0.0)
        one, other = (positions[v * WIDTH + u].astype(float) for u, v in ends)
        assert value == pytest.approx(np.linalg.norm(one - other), rel=1e-5)
        assert "baselines" in text


def open_menu(tab):
    tab.click("#viewing summary")
    expect(tab.locator(".sheet")).to_be_visible()


def test_the_clip_shows_the_points_between_two_depths(page):
    page.check("#show-cloud")
    page.uncheck("#show-mesh")
    expect(page.locator("#counts")).to_contain_text("points")
    page.click("#camera")
    open_menu(page)
    whole = seen(page, "#space")
    depth = points()[:, :, 2]
    near, far = (float(f"{value:.3g}") for value in np.quantile(depth, [0.3, 0.7]))
    page.fill("#clip-near-exact", str(near))
    page.fill("#clip-far-exact", str(far))
    kept = int(((depth >= np.float32(near)) & (depth <= np.float32(far))).sum())
    expect(page.locator("#clipped")).to_have_text(
        f"{kept:,} of {depth.size:,} points within the clip"
    )
    changes(page, "#space", whole)
    page.fill("#clip-near-exact", "")
    page.fill("#clip-far-exact", "")
    expect(page.locator("#clipped")).to_be_hidden()
    page.locator("#clip-far").fill("0")
    expect(page.locator("#clipped")).to_have_text(f"0 of {depth.size:,} points within the clip")


def test_what_is_clipped_cannot_be_picked(wide):
    wide.click("#camera")
    assert pixel_at(wide, 0.5, 0.5)
    open_menu(wide)
    wide.fill("#clip-far-exact", "0.01")
    wide.click("#viewing summary")
    click(wide, 0.5, 0.5)
    wide.wait_for_timeout(300)
    assert wide.locator("#facts").is_hidden()
    wide.locator("#space").focus()
    wide.keyboard.press("Home")
    wide.click("#camera")
    assert pixel_at(wide, 0.5, 0.5)


def test_the_clip_by_confidence_shows_while_the_slider_moves(page):
    """The confidence of this result rises from left to right."""
    page.click("#camera")
    page.select_option("#colouring", "shape")

    def halves():
        lit = covered(page)
        middle = lit.shape[1] // 2
        return lit[:, :middle].mean(), lit[:, middle:].mean()

    until(page, lambda: min(halves()) > 0.1)
    page.evaluate(
        """() => { const slider = document.getElementById('clip-confidence');
                   slider.value = 50; slider.dispatchEvent(new Event('input')); }"""
    )
    until(page, lambda: halves()[0] < 0.02 and halves()[1] > 0.1)
    assert page.locator("#space-pane").get_attribute("data-least") == "0"
    page.evaluate("document.getElementById('clip-confidence').dispatchEvent(new Event('change'))")
    page.wait_for_selector("#space-pane[data-least='50']")
    assert page.locator("#least-shown").inner_text() == "50 %"
    until(page, lambda: halves()[0] < 0.02 and halves()[1] > 0.1)


def on_scale(value, low, high, colours):
    return colours[round(255 * min(max((value - low) / (high - low), 0), 1))].astype(int)


def expected_colour(kind, u, v, legend):
    if kind == "normals":
        return colour_normals(RESULT, CAMERAS)[v, u].astype(int)
    if kind == "confidence":
        return on_scale(RESULT.confidence[v, u], 0, 1, cividis())
    low, high = (float(legend.get_attribute(f"data-{end}")) for end in ("low", "high"))
    if kind == "disparity":
        return on_scale(RESULT.disparity[v, u], low, high, viridis())
    return on_scale(np.log(points()[v, u, 2]), np.log(low), np.log(high), viridis())


@pytest.mark.parametrize("kind", ["depth", "disparity", "confidence", "normals"])
def test_colours_are_those_of_the_values_of_the_result(page, kind):
    page.click("#camera")
    pixels = [pixel_at(page, *place) for place in PLACES]
    page.select_option("#colouring", kind)
    legend = page.locator("#space-legend")
    expect(legend).to_have_attribute("data-kind", kind)
    expect(legend).to_be_visible()

    def right():
        off = [
            np.abs(colour_at(page, *place) - expected_colour(kind, u, v, legend)).max()
            for place, (u, v) in zip(PLACES, pixels, strict=True)
        ]
        # The mesh is of planes, and a place may lie on the edge of one.
        return sorted(off)[-2] <= 14

    until(page, right)


@pytest.mark.parametrize("kind", ["depth", "normals"])
def test_nothing_over_the_view_covers_anything_else(page, kind):
    page.check("#show-cloud")
    page.select_option("#colouring", kind)
    expect(page.locator("#space-legend")).to_have_attribute("data-kind", kind)
    expect(page.locator("#counts")).to_contain_text("points")
    open_menu(page)
    page.fill("#clip-far-exact", "3")
    page.click("#viewing summary")
    page.click("#measure")
    parts = page.locator(".tools > :visible, #space-legend, #compass, #clipped, #counts").all()
    boxes = [part.bounding_box() for part in parts]
    assert len(boxes) >= 12
    for one, other in itertools.combinations(boxes, 2):
        across = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        down = one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
        assert across or down
    if kind == "depth":
        assert page.locator("#space-legend .bar span:visible").count() >= 3


def test_the_colour_map_can_be_chosen(wide):
    wide.click("#camera")
    wide.select_option("#colouring", "depth")
    open_menu(wide)
    wide.select_option("#scale", "grey")
    wide.click("#viewing summary")
    until(wide, lambda: max(np.ptp(colour_at(wide, *place)) for place in PLACES) <= 2)


def angles(tab):
    box = tab.locator("#compass")
    return tuple(float(box.get_attribute(f"data-{name}")) for name in ("azimuth", "polar"))


def test_no_drag_leads_behind_the_scene(page):
    page.locator("#space").scroll_into_view_if_needed()
    box = page.locator("#space").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for across, down in ((-220, 0), (-380, 0), (390, 0), (390, 30), (0, -250), (0, 240)):
        page.mouse.move(*middle)
        page.mouse.down()
        page.mouse.move(middle[0] + across / 2, middle[1] + down / 2)
        page.mouse.move(middle[0] + across, middle[1] + down)
        page.mouse.up()
        page.wait_for_timeout(60)
        azimuth, polar = angles(page)
        assert abs(azimuth) <= 90.01
        assert polar <= 115.01
    page.locator("#space").focus()
    page.keyboard.press("Home")
    until(page, lambda: abs(angles(page)[0]) < 60)


def test_the_compass_and_keys_look_from_all_sides(page):
    sides = {"left": (-90, 90), "right": (90, 90), "above": (None, 0), "below": (None, 180)}
    sides |= {"behind": (180, 90)}
    keys = {"left": "l", "right": "r", "above": "a", "below": "u", "behind": "b"}
    for by_key in (False, True):
        page.locator("#space").focus()
        page.keyboard.press("Home")
        for side, (azimuth, polar) in sides.items():
            if by_key:
                page.locator("#space").focus()
                page.keyboard.press(keys[side])
            else:
                # Ends may lie over each other, as those of an axis seen from its end.
                page.locator(f"#compass [data-side={side}]").dispatch_event("click")

            def there(azimuth=azimuth, polar=polar):
                now = angles(page)
                off = 0 if azimuth is None else abs(abs(now[0] - azimuth + 180) % 360 - 180)
                return off < 0.5 and abs(now[1] - polar) < 0.5

            until(page, there)
            assert page.locator("#free").is_checked() == (side in ("below", "behind"))
    page.keyboard.press("c")
    until(page, lambda: abs(angles(page)[0]) < 10)
    page.keyboard.press("o")
    assert not page.locator("#free").is_checked()


def test_shapes_are_lit_alike_from_both_sides(page):
    page.select_option("#colouring", "shape")
    page.locator("#space").focus()

    def brightness(key):
        page.keyboard.press(key)
        page.wait_for_timeout(700)  # all is drawn when nothing moves
        lit = covered(page)
        assert lit.mean() > 0.03
        return float(np.median(seen(page, "#space")[lit]))

    front, behind = brightness("c"), brightness("b")
    assert behind > 90
    assert 0.6 < behind / front < 1.6


def test_the_screenshot_is_what_is_seen(page, tmp_path):
    page.click("#camera")
    page.select_option("#colouring", "depth")
    page.wait_for_selector("#space-legend[data-kind=depth]")
    with page.expect_download() as download:
        page.click("#shot")
    assert download.value.suggested_filename == "a scene-3d.png"
    download.value.save_as(tmp_path / "shot.png")
    picture = cv2.imread(str(tmp_path / "shot.png"))
    size = page.evaluate("(({width, height}) => [height, width])(document.getElementById('space'))")
    assert list(picture.shape[:2]) == size
    shown = seen(page, "#space")
    shown = cv2.resize(shown, picture.shape[1::-1])
    assert (np.abs(picture.astype(int) - shown).max(axis=2) > 24).mean() < 0.05
    assert picture.std() > 10


def test_points_have_the_size_that_is_asked_for(page):
    page.check("#show-cloud")
    page.uncheck("#show-mesh")
    page.select_option("#colouring", "shape")
    expect(page.locator("#counts")).to_contain_text("points")
    page.locator("#space").focus()
    page.keyboard.press("t")

    def share(power):
        page.locator("#point-size").evaluate(
            "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }",
            power,
        )
        page.wait_for_timeout(700)
        return covered(page).mean()

    small, usual, large = share("-2"), share("0"), share("2")
    assert small < 0.8 * usual
    assert usual < large
    assert page.locator("#point-size-shown").text_content() == "4.0 ×"


def test_all_keys_of_the_list_do_something(wide):
    wide.locator("#space").focus()
    unheard = wide.evaluate(
        """async () => {
             const { KEYS } = await import('/assets/space_keys.js');
             const names = { '←': 'ArrowLeft', '→': 'ArrowRight', '↑': 'ArrowUp', '↓': 'ArrowDown',
                             '−': '-' };
             const keys = KEYS.flatMap(([text]) => text.split('  '));
             return keys.filter((key) => key !== 'p').filter((key) => {
               const event = new KeyboardEvent('keydown', { key: names[key] ?? key, bubbles: true,
                                                            cancelable: true });
               document.getElementById('space').dispatchEvent(event);
               return !event.defaultPrevented;
             });
           }"""
    )
    assert unheard == []
    wide.keyboard.press("Escape")


def test_keys_elsewhere_are_left_alone(wide):
    before = angles(wide)
    wide.mouse.move(5, 5)
    wide.locator("#strip-sort, #export-name").last.focus()
    wide.keyboard.press("a")
    wide.locator("[data-layer=image]").focus()
    wide.keyboard.press("a")
    wide.wait_for_timeout(200)
    assert angles(wide) == before


def test_the_background_is_that_of_the_page(wide):
    wide.evaluate("document.documentElement.style.setProperty('--well', '#f4f6f8')")
    wide.evaluate("document.documentElement.dataset.theme = 'light'")
    until(wide, lambda: tuple(seen(wide, "#space")[3, 3]) == (0xF8, 0xF6, 0xF4))


def test_a_double_click_makes_the_centre_of_rotation(wide):
    wide.click("#camera")
    box = wide.locator("#space").bounding_box()
    place = {"x": 0.7 * box["width"], "y": 0.6 * box["height"]}
    click(wide, 0.7, 0.6)
    wide.wait_for_selector("#fact-pixel", state="attached")
    wanted = fact(wide, "pixel")
    wide.locator("#space").dblclick(position=place)
    wide.wait_for_timeout(500)
    wide.locator("#space").focus()
    wide.keyboard.press("Enter")  # what is in the middle now

    def near():
        u, v = map(int, fact(wide, "pixel").split(","))
        return np.hypot(u - int(wanted.split(",")[0]), v - int(wanted.split(",")[1])) <= 4

    until(wide, near)
    wide.keyboard.press("Escape")


def test_a_reload_starts_anew(wide):
    open_menu(wide)
    wide.fill("#clip-far-exact", "1")
    wide.reload()
    ready(wide)
    assert wide.locator("#clipped").is_hidden()
