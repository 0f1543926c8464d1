"""The picture's side of the page in a real browser: layers, figures, profiles, comparison, keys.

Everything is tried at two sizes of the window, and compared with the arrays of the result.
"""

import base64
import json
import re

import cv2
import numpy as np
import pytest

from slanted.evaluation import Region, evaluate
from slanted.output.folder import whole_folder, write_result
from slanted.output.mesh import LEAST_DISPARITY
from slanted.output.pictures import colour_disparity, colour_error, disparity_scale
from slanted.output.pixel_flag import PixelFlag
from slanted.output.pixel_maps import pixel_flags
from slanted.output.pixel_pictures import colour_depth, colour_flags, depth_scale
from slanted.output.profile import profile
from slanted.result import Result
from slanted.viewer.others import sgbm_disparity
from viewer.browsing import expect, ready
from viewer.client import served
from viewer.test_browser import fact, until, viewing
from viewer.worlds import CAMERAS, estimated, scene, session, sure

REGION = (30, 20, 71, 51)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("layers")
    np.save(place / "truth.npy", scene().disparity)
    known = sure(estimated()[0])
    for name, result in (("out", known), ("other", known)):
        with whole_folder(place / name) as staging:
            write_result(staging, result, scene().left, CAMERAS, {}, scene().right)
    np.save(place / "map.npy", np.where(known.disparity > 20, np.nan, known.disparity + 1))
    return place


@pytest.fixture(scope="module")
def result(folder):
    return Result.load(folder / "out")


@pytest.fixture(scope="module")
def address(folder):
    shown = "out", "--ground-truth", "truth.npy", "--compare", "map.npy"
    with viewing(folder, *shown) as found:
        yield found


@pytest.fixture(scope="module")
def window():
    permissions = ["clipboard-read", "clipboard-write"]
    return {"permissions": permissions, "color_scheme": "dark"}


def place(tab, u, v):
    """Where the middle of a pixel is on the screen."""
    tab.locator("#picture").scroll_into_view_if_needed()
    box = tab.locator("#picture").bounding_box()
    scale = min(box["width"] / 160, box["height"] / 120)
    left = box["x"] + (box["width"] - 160 * scale) / 2
    top = box["y"] + (box["height"] - 120 * scale) / 2
    return left + (u + 0.5) * scale, top + (v + 0.5) * scale


def drag(tab, start, end):
    tab.mouse.move(*place(tab, *start))
    tab.mouse.down()
    tab.mouse.move(*place(tab, *end), steps=3)
    tab.mouse.up()


def choose(tab, layer):
    tab.locator(f"[data-layer={layer}]").click()
    expect(tab.locator(f"[data-layer={layer}]")).to_have_attribute("aria-selected", "true")


def pixels_seen(tab):
    """The picture as an array, by way of a copy: a canvas that is often read warns of it."""
    address = tab.evaluate(
        """() => {
             const canvas = document.getElementById('picture');
             const copy = new OffscreenCanvas(canvas.width, canvas.height);
             copy.getContext('2d', { willReadFrequently: true }).drawImage(canvas, 0, 0);
             return copy.convertToBlob().then((blob) => new Promise((done) => {
               const reader = new FileReader();
               reader.onload = () => done(reader.result);
               reader.readAsDataURL(blob);
             }));
           }"""
    )
    data = np.frombuffer(base64.b64decode(address.partition(",")[2]), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[:, :, ::-1]


def on_canvas(tab, u, v):
    """Row and column of the canvas at which a pixel of the image is."""
    box = tab.locator("#picture").bounding_box()
    x, y = place(tab, u, v)
    return round(y - box["y"]), round(x - box["x"])


def colours_at(tab, pixels):
    """The colours that the canvas shows at pixels of the image."""
    seen = pixels_seen(tab)
    return [seen[on_canvas(tab, *pixel)] for pixel in pixels]


def shows(tab, painted, pixels=((12, 9), (77, 31), (100, 60), (140, 111), (51, 88))):
    """Wait until the picture has the colours of an array, where its neighbours have them too."""
    flat = [
        (u, v) for u, v in pixels if (painted[v - 1 : v + 2, u - 1 : u + 2] == painted[v, u]).all()
    ]
    smooth = [
        (u, v)
        for u, v in pixels
        if np.ptp(painted[v - 2 : v + 3, u - 2 : u + 3].astype(int), axis=(0, 1)).max() <= 40
    ]
    chosen = flat or smooth
    assert chosen
    wanted = [painted[v, u].astype(int) for u, v in chosen]

    def same():
        found = colours_at(tab, chosen)
        return all(
            np.abs(a.astype(int) - b).max() <= 20 for a, b in zip(found, wanted, strict=True)
        )

    until(tab, same)


def test_every_layer_is_there_with_its_legend_and_its_colours(page, result):
    names = [each.get_attribute("data-layer") for each in page.locator("#layers button").all()]
    assert names == [
        *("image", "right", "disparity", "depth", "error", "truth", "matched", "confidence"),
        *("deviation", "occlusion", "flags", "segments", "labels", "planes", "margins"),
    ]
    truth = scene().disparity
    scale = disparity_scale(truth)
    depth = CAMERAS.depth(result.disparity, LEAST_DISPARITY)
    painted = {
        "image": scene().left,
        "right": scene().right,
        "disparity": colour_disparity(result.disparity, *scale),
        "depth": colour_depth(depth, *depth_scale(depth)),
        "error": colour_error(result.disparity, truth),
        "truth": colour_disparity(truth, *scale),
        "matched": colour_disparity(result.matched, *scale),
        "flags": colour_flags(pixel_flags(result)),
    }
    titles = {}
    for name in names:
        choose(page, name)
        if name in painted:
            shows(page, painted[name])
        titles[name] = page.locator("#legend strong").inner_text()
    assert titles["depth"] == "depth, m"
    assert len(set(titles.values())) == len(names)
    choose(page, "flags")
    swatches = [each.inner_text() for each in page.locator("#legend .swatch").all()]
    assert swatches[:4] == ["matched", "filled", "occluded", "out of view"]


def test_colour_maps_change_picture_and_legend(page, result):
    scale = disparity_scale(scene().disparity)
    before = page.locator("#legend canvas").evaluate("c => c.toDataURL()")
    page.select_option("#colours", "turbo")
    shows(page, colour_disparity(result.disparity, *scale, "turbo"))
    assert page.locator("#legend canvas").evaluate("c => c.toDataURL()") != before


def figures(tab, of):
    cells = tab.locator(f"#scores [data-of={of}]").all()
    found = {cell.get_attribute("data-metric"): cell.get_attribute("data-value") for cell in cells}
    return {name: json.loads(value) for name, value in found.items()}


def test_errors_of_the_image_and_of_a_region_are_those_of_evaluate(page, result):
    truth = scene().disparity
    expect(page.locator("#scoring")).to_be_visible()
    whole = evaluate(result.disparity, truth)
    found = figures(page, "image-0")
    assert set(found) == {f"{name}-all" for name in
                          ("D1", "out-1px", "out-2px", "out-3px", "epe", "rms", "density")}  # fmt: skip
    assert found == pytest.approx({name: whole[name] for name in found})
    page.click("[data-tool=region]")
    drag(page, (30, 20), (100, 70))
    page.wait_for_selector(
        f"#scoring[data-region='{','.join(map(str, REGION))}']", state="attached"
    )
    part = evaluate(result.disparity, truth, region=Region(*REGION))
    assert figures(page, "region-0") == pytest.approx({name: part[name] for name in found})
    flags = Region(*REGION).of(pixel_flags(result))
    shown = float(page.locator("#region-matched").get_attribute("data-value"))
    assert shown == pytest.approx(100 * ((flags & PixelFlag.MATCHED) > 0).mean())
    page.click("#region-clear")
    expect(page.locator("#measuring")).to_be_hidden()
    expect(page.locator("#scores [data-of=region-0]")).to_have_count(0)


def test_the_threshold_counts_in_the_errors(wide, result):
    wide.locator("#least").fill("60")
    wide.wait_for_selector("#scoring[data-least='60']")
    kept = np.where(result.confidence >= 0.6, result.disparity, np.nan)
    found = figures(wide, "image-0")
    assert found["D1-all"] == pytest.approx(evaluate(kept, scene().disparity)["D1-all"])
    assert found["density-all"] < 50
    assert found["D1-kept"] < found["D1-all"]


def test_a_line_has_a_profile_of_the_files(page, result):
    page.click("[data-tool=line]")
    drag(page, (20, 30), (140, 90))
    page.wait_for_selector("#profile[data-line='20,30,140,90']")
    page.click("#profile-copy")
    expect(page.locator("#said")).to_have_text("profile copied")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    names = lines[0].split("\t")
    values = np.array([[float(cell or "nan") for cell in line.split("\t")] for line in lines[1:]])
    table = dict(zip(names, values.T, strict=True))
    line = profile(result.disparity.shape, (20, 30), (140, 90))
    np.testing.assert_array_equal(table["u"], line.u)
    np.testing.assert_array_equal(table["v"], line.v)
    np.testing.assert_allclose(table["disparity"], line.of(result.disparity))
    np.testing.assert_allclose(table["truth"], line.of(scene().disparity))
    np.testing.assert_allclose(table["depth"], CAMERAS.depth(line.of(result.disparity)), rtol=1e-6)
    points = CAMERAS.points(result.disparity)
    apart = np.linalg.norm(points[90, 140] - points[30, 20])
    shown = page.locator("#profile-text").get_attribute("data-distance")
    assert float(shown) == pytest.approx(apart, rel=1e-5)
    page.select_option("#profile-what", "depth")
    expect(page.locator("#profile")).to_have_attribute("data-what", "depth")
    page.hover("#profile")
    expect(page.locator("#profile-text")).to_have_text(re.compile(r"\(\d+, \d+\): [\d.]+ m"))


def compare(tab, name):
    tab.select_option("#compare", name)
    tab.wait_for_selector("#comparing[data-state=shown]")


def test_a_swipe_shows_both_maps_on_one_scale(page, result, folder):
    other = np.load(folder / "map.npy").astype(np.float32)
    scale = disparity_scale(scene().disparity)
    compare(page, "given")
    painted = [colour_disparity(each, *scale) for each in (result.disparity, other)]
    both = np.where(np.arange(160)[None, :, None] < 80, *painted)
    shows(page, both)
    # By keyboard and by pointer: B everywhere, then A everywhere.
    handle = page.locator("#swipe")
    handle.press("Home")
    expect(handle).to_have_attribute("aria-valuenow", "0")
    shows(page, painted[1])
    box = handle.bounding_box()
    edge = page.locator("#picture").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(edge["x"] + edge["width"] + 20, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    expect(handle).to_have_attribute("aria-valuenow", "100")
    shows(page, painted[0])
    assert page.locator("#side-b").inner_text() == "B · map.npy"
    choose(page, "planes")
    assert page.locator("#side-b").inner_text() == "B · map.npy has no planes"
    # The figures of both, and the numbers of both under the cursor.
    page.wait_for_selector("#scores [data-of=image-1]")
    wanted = evaluate(other, scene().disparity)
    assert figures(page, "image-1")["D1-all"] == pytest.approx(wanted["D1-all"])
    known = np.argwhere(np.isfinite(other))[len(other) // 2]
    v, u = map(int, known)
    choose(page, "disparity")
    page.mouse.click(*place(page, u, v))
    page.wait_for_selector(f"#fact-pixel[data-value='{u},{v}']")
    assert float(fact(page, "other-disparity")) == pytest.approx(float(other[v, u]))
    assert float(fact(page, "apart")) == pytest.approx(1, abs=1e-5)
    page.select_option("#compare", "")
    expect(handle).to_be_hidden()
    expect(page.locator("#scores [data-of=image-1]")).to_have_count(0)


def test_sgbm_is_made_when_it_is_asked_for(page, result):
    compare(page, "sgbm")
    wanted = sgbm_disparity(scene().left, scene().right, result.searched)
    page.wait_for_selector("#scores [data-of=image-1]")
    found = figures(page, "image-1")
    whole = evaluate(wanted, scene().disparity)
    assert found == pytest.approx({name: whole[name] for name in found})
    page.locator("#swipe").press("Home")
    shows(page, colour_disparity(wanted, *disparity_scale(scene().disparity)))
    page.keyboard.press("b")  # goes on to nothing
    expect(page.locator("#swipe")).to_be_hidden()


def test_numbers_are_copied_with_a_key(page, result):
    page.mouse.click(*place(page, 40, 30))
    page.wait_for_selector("#fact-pixel[data-value='40,30']")
    page.keyboard.press("c")
    expect(page.locator("#said")).to_have_text("numbers copied")
    copied = dict(
        line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").splitlines()
    )
    assert copied["pixel (u, v)"] == "40, 30"
    assert copied["disparity"] == f"{result.disparity[30, 40]:.3f} px"
    assert copied["depth"] == f"{CAMERAS.depth(result.disparity)[30, 40]:.3f} m"


def test_a_screenshot_is_what_is_seen_with_the_legend(page, result, tmp_path):
    choose(page, "disparity")
    painted = colour_disparity(result.disparity, *disparity_scale(scene().disparity))
    shows(page, painted)
    with page.expect_download() as download:
        page.keyboard.press("s")
    assert download.value.suggested_filename == "out-disparity.png"
    download.value.save_as(tmp_path / "shot.png")
    saved = cv2.imread(str(tmp_path / "shot.png"))[:, :, ::-1]
    box = page.locator("#picture").bounding_box()
    assert saved.shape[1] == pytest.approx(box["width"], abs=1)
    assert saved.shape[0] == pytest.approx(box["height"] + 34, abs=1)
    x, y = place(page, 77, 31)
    shown = saved[round(y - box["y"]), round(x - box["x"])].astype(int)
    assert np.abs(shown - painted[31, 77]).max() <= 20
    assert saved[-30:].std() > 5  # the legend


def test_the_sheet_of_keys_opens_and_its_keys_work(page):
    page.keyboard.press("?")
    sheet = page.locator("#help")
    expect(sheet).to_be_visible()
    keys = [each.inner_text() for each in page.locator("#help kbd").all()]
    assert {"c", "s", "r", "l", "b", "?"} <= set(keys)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.click("#help-open")
    expect(sheet).to_be_visible()
    page.keyboard.press("1")  # means nothing while the sheet is open
    expect(page.locator("[data-layer=disparity]")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("?")
    expect(sheet).to_be_hidden()
    page.keyboard.press("4")
    expect(page.locator("[data-layer=depth]")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("]")
    expect(page.locator("[data-layer=error]")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("r")
    expect(page.locator("button[data-tool=region]")).to_have_attribute("aria-pressed", "true")


def test_everything_can_be_reached_with_the_keyboard_alone(page, result):
    """The Tab key finds every control, and says what it is; the picture works without a pointer."""
    seen, names = [], []
    page.evaluate("document.activeElement.blur()")
    for _ in range(150):
        page.keyboard.press("Tab")
        told = page.evaluate(
            """() => {
                 const e = document.activeElement;
                 const name = e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || '';
                 const known = e === document.body || e.wasSeen;
                 e.wasSeen = true;
                 const style = getComputedStyle(e);
                 return [known, e.id || e.dataset.tool || e.tagName, name.trim(), style.outlineStyle];
               }"""
        )
        if told[0]:
            break
        seen.append(told[1])
        names.append(told[1:])
    for wanted in ("picture", "fit", "colours", "compare", "screenshot", "legend", "space",
                   "least", "run", "theme", "help-open", "export"):  # fmt: skip
        assert wanted in seen, (wanted, seen)
    assert all(name for _, name, _ in names), names
    assert all(outline != "none" for _, _, outline in names), names
    page.locator("#picture").focus()
    page.keyboard.press("ArrowRight")  # a cursor in the middle
    page.wait_for_selector("#fact-pixel[data-value='80,60']")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#fact-pixel[data-value='79,50']")
    page.keyboard.press("Enter")
    expect(page.locator("#pinned")).to_have_text("held")
    assert float(fact(page, "disparity")) == pytest.approx(float(result.disparity[50, 79]))
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    for key in ("Shift+ArrowRight", "Shift+ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#scoring[data-region='79,50,11,11']", state="attached")


def test_the_right_image_shows_where_the_held_pixel_is_seen(wide, result):
    wide.mouse.click(*place(wide, 100, 60))
    wide.wait_for_selector("#fact-pixel[data-value='100,60']")
    choose(wide, "right")
    wide.mouse.move(*place(wide, 20, 20))  # pixels of the right image are not those of the left
    wide.wait_for_timeout(200)
    assert fact(wide, "pixel") == "100,60"
    across = 100 - float(result.disparity[60, 100])

    def white():
        """The ring around a mark is white, seven pixels of the screen from its middle."""
        y, x = on_canvas(wide, across, 60)
        return (pixels_seen(wide)[y - 9 : y + 9, x - 9 : x + 9].min(axis=2) > 245).sum()

    until(wide, lambda: white() > 20)


def test_dark_and_light_follow_the_system_and_the_choice_is_kept(look_at, address):
    with look_at(address, "narrow", color_scheme="light") as tab:
        root = tab.locator("html")
        expect(root).to_have_attribute("data-theme", "light")
        light = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        tab.keyboard.press("t")
        expect(root).to_have_attribute("data-theme", "dark")
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != light
        tab.reload()
        ready(tab)
        expect(root).to_have_attribute("data-theme", "dark")
        assert tab.evaluate("document.cookie") == ""  # nothing that other ports would see
        tab.click("#theme")
        expect(root).to_have_attribute("data-theme", "light")


def test_nothing_is_cut_off(page):
    wide = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0
    page.click("[data-tool=region]")
    drag(page, (30, 20), (100, 70))
    compare(page, "sgbm")
    page.wait_for_selector("#scores [data-of=region-1]")
    over = page.evaluate(
        """() => [...document.querySelectorAll('aside section')]
                   .filter((e) => !e.hidden && e.scrollWidth > e.clientWidth).map((e) => e.id)"""
    )
    assert over == []


def test_weights_have_names_and_their_symbols_in_small(wide):
    wide.locator("#running summary").click()
    labels = [each.inner_text().split() for each in wide.locator("#weights label").all()]
    assert [*labels[2]] == ["smoothness", "wbdy2"]
    assert labels[1][:2] == ["boundary", "ownership"]
    assert wide.locator("#weights label small sub").count() == len(labels)


def test_a_typed_weight_runs_on_enter(wide):
    wide.locator("#running summary").click()
    before = int(wide.locator("#job").get_attribute("data-run"))
    box = wide.locator("#slider-model-weights-bdy2-exact")
    box.fill("77")
    box.press("Enter")
    wide.wait_for_selector(f"#job[data-run='{before + 1}'][data-status=done]")
    assert box.input_value() == "77"
    box.fill("99999")  # out of the slider's range: the box says so, and nothing runs
    box.press("Enter")
    wide.wait_for_timeout(300)
    assert int(wide.locator("#job").get_attribute("data-run")) == before + 1
    box.fill("50")
    box.press("Enter")
    wide.wait_for_selector(f"#job[data-run='{before + 2}'][data-status=done]")


def test_the_energy_tells_where_segments_changed(look_at):
    """The last result has rounds of refinement, before each of which the segments changed."""
    with served(session(snapshots=True)) as client, look_at(client.address, "wide") as tab:
        iterations = estimated()[0].inference.iterations
        changes = tab.locator("#energy .change")
        expect(changes).to_have_count(2)
        expect(tab.locator("#energy .change-text")).to_have_text("segments changed")
        text = tab.locator("#energy-text").inner_text()
        assert "Only energies between two changes can be compared" in text
        assert f"Before iteration {len(iterations)} the segments changed" in text
        dots = tab.locator("#energy .dot-0").count()
        assert dots == len(iterations) + int(np.isfinite(estimated()[0].inference.initial_energy))
        here = tab.locator("#energy .here").get_attribute("cx")
        tab.keyboard.press(",")
        tab.keyboard.press(",")
        expect(tab.locator("#energy .here")).not_to_have_attribute("cx", here)


def test_without_a_pair_truth_or_calibration_the_page_offers_what_there_is(look_at):
    made = session(truth=False, right=False, calibration=None)
    with served(made) as client, look_at(client.address, "narrow") as tab:
        names = [each.get_attribute("data-layer") for each in tab.locator("#layers button").all()]
        assert not {"right", "depth", "error", "truth"} & set(names)
        assert tab.locator("#comparing").is_hidden()
        assert tab.locator("#scoring").is_hidden()
        tab.click("[data-tool=line]")
        drag(tab, (20, 30), (140, 90))
        tab.wait_for_selector("#profile[data-line]")
        assert tab.locator("#profile-what option[value=depth]").is_disabled()
