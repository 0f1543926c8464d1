"""The whole way, in a real browser: a folder, the command, the page, a click, a run, a file."""

import re
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import cv2
import numpy as np
import pytest
import trimesh

from output.on_planes import distances_to_planes
from slanted.io import read_disparity
from slanted.output.folder import whole_folder, write_result
from slanted.output.mesh import TOLERANCE
from slanted.result import Result
from slanted.viewer.guard import Guard
from viewer import waiting
from viewer.browsing import calm, expect, open_page, ready
from viewer.client import TOKEN, served
from viewer.worlds import CAMERAS, estimated, scene, session, sure

LONG = {"segmentation-count": "1500", "inference-iterations": "10", "refinement-rounds": "6",
        "refinement-iterations": "6"}  # fmt: skip
LONG_BODY = {name.replace("-", "."): int(value) for name, value in LONG.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("result")
    truth = scene().disparity
    np.save(place / "truth.npy", truth)
    with whole_folder(place / "out") as staging:
        write_result(staging, estimated()[0], scene().left, CAMERAS, {}, scene().right)
    return place


@contextmanager
def viewing(folder, *arguments, port=0):
    """Give the address at which the command shows a result."""
    command = [sys.executable, "-m", "slanted", "view", *map(str, arguments)]
    server = subprocess.Popen(
        [*command, "--no-browser", "--port", str(port), "--quiet"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    said = server.stdout.readline()
    try:
        yield re.search(r"http://\S+", said).group()
    finally:
        server.terminate()
        server.wait(waiting.PATIENCE)
        server.stdout.close()


@pytest.fixture(scope="module")
def address(folder):
    with viewing(folder, "out", "--ground-truth", "truth.npy") as found:
        yield found


@pytest.fixture
def page(context, address):
    return open_page(context, address)


def seen(tab, selector):
    """What an element looks like on the screen, without what lies over it."""
    over = ".tools, .legend, .note, .side, #swipe, #compass"
    hide = f"""how => document.querySelectorAll('{over}')
                .forEach((part) => {{ part.style.visibility = how; }})"""
    tab.evaluate(hide, "hidden")
    shot = tab.locator(selector).screenshot()
    tab.evaluate(hide, "")
    return cv2.imdecode(np.frombuffer(shot, np.uint8), cv2.IMREAD_COLOR)


def until(tab, true):
    """Wait until a function returns something true, and return that; the tab goes on meanwhile."""
    return waiting.until(true, lambda: tab.wait_for_timeout(50))


def changes(tab, selector, before, least=0.1):
    """Wait until much of an element looks different, and return what it looks like then."""

    def changed():
        now = seen(tab, selector)
        return now if (np.abs(now.astype(int) - before).max(axis=2) > 12).mean() > least else None

    return until(tab, lambda: [now] if (now := changed()) is not None else None)[0]


def fact(tab, name):
    return tab.locator(f"#fact-{name}").get_attribute("data-value")


def click_pixel(tab, u, v):
    """Click the middle of a pixel of the picture, which fills its pane one way or the other."""
    box = tab.locator("#picture").bounding_box()
    scale = min(box["width"] / 160, box["height"] / 120)
    left = box["x"] + (box["width"] - 160 * scale) / 2
    top = box["y"] + (box["height"] - 120 * scale) / 2
    tab.mouse.click(left + (u + 0.5) * scale, top + (v + 0.5) * scale)
    tab.wait_for_selector(f"#fact-pixel[data-value='{u},{v}']")


def start(tab):
    """Press Run and return the number that the run has."""
    before = int(tab.locator("#job").get_attribute("data-run"))
    tab.click("#run")
    tab.wait_for_selector(f"#job[data-run='{before + 1}']", state="attached")
    return before + 1


def finish(tab, run, status):
    tab.wait_for_selector(f"#job[data-run='{run}'][data-status={status}]")


def test_the_page_shows_all_layers_and_three_dimensions(page):
    buttons = page.locator("#layers button").all()
    layers = [button.get_attribute("data-layer") for button in buttons]
    assert layers[:4] == ["image", "right", "disparity", "depth"]
    assert {"margins", "error"} <= set(layers)
    shown = set()

    def is_new():
        picture = seen(page, "#picture")
        return picture.tobytes() not in shown and picture.std() > 10

    for name in layers:
        page.click(f"[data-layer={name}]")
        until(page, is_new)
        page.wait_for_load_state("networkidle")
        shown.add(seen(page, "#picture").tobytes())

    # The mesh is shown from the start, drawn once its triangles are in the memory of the card.
    until(page, lambda: int(page.locator("#space").get_attribute("data-geometries") or 0))
    mesh = seen(page, "#space")
    page.uncheck("#show-mesh")
    empty = changes(page, "#space", mesh)
    page.check("#show-cloud")
    expect(page.locator("#counts")).to_contain_text("points")
    cloud = changes(page, "#space", empty)
    page.uncheck("#show-cloud")
    changes(page, "#space", cloud)
    page.check("#show-mesh")
    changes(page, "#space", empty)
    calm(page)


def test_a_click_tells_what_the_files_say(page, folder):
    disparity = read_disparity(folder / "out" / "disparity.pfm")
    result = Result.load(folder / "out")
    for u, v in ((40, 30), (81, 64), (150, 110)):
        click_pixel(page, u, v)
        assert float(fact(page, "disparity")) == pytest.approx(float(disparity[v, u]), abs=1e-6)
        depth = float(CAMERAS.depth(disparity)[v, u])
        assert float(fact(page, "depth")) == pytest.approx(depth, rel=1e-5)
        segment = int(result.regions.label_image[v, u])
        assert int(fact(page, "segment")) == segment
        plane = [*map(float, fact(page, "slopes").split(",")), float(fact(page, "gamma"))]
        np.testing.assert_allclose(plane, result.planes[segment])
        assert page.locator("#neighbours .swatch").count() >= 1
    page.keyboard.press("Escape")
    assert page.locator("#facts").is_hidden()
    calm(page)


def test_the_slider_hides_what_is_below_the_confidence(context, folder, page):
    assert page.locator("#trusting").is_hidden()  # this result has no confidence
    sure(Result.load(folder / "out")).save(folder / "sure", scene().left, scene().right)
    with viewing(folder, "sure") as address:
        tab = open_page(context, address)
        click_pixel(tab, 40, 30)
        assert float(fact(tab, "confidence")) == pytest.approx(40 / 159, abs=1e-4)
        assert "low confidence" in fact(tab, "flags")
        whole = seen(tab, "#picture")
        triangles = tab.locator("#counts").inner_text()
        tab.locator("#least").fill("75")
        tab.wait_for_selector("#space-pane[data-least='75']")
        assert tab.locator("#least-shown").inner_text() == "75 %"
        # Three quarters of the picture are black now, and of the mesh only a quarter is left.
        changes(tab, "#picture", whole, least=0.3)
        assert tab.locator("#counts").inner_text() != triangles
        assert "confidence=75" in tab.locator("#export").get_attribute("href")
        tab.click("[data-layer=confidence]")
        tab.wait_for_load_state("networkidle")
        assert "confidence" in tab.locator("#legend").inner_text()
        calm(tab)


def test_a_click_in_three_dimensions_finds_the_pixel(page):
    page.click("#camera")  # from where the left image was taken
    box = page.locator("#space").bounding_box()

    def in_the_middle():
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_selector("#fact-pixel")
        u, v = map(int, fact(page, "pixel").split(","))
        return abs(u - 79.5) <= 3 and abs(v - 59.5) <= 3

    until(page, in_the_middle)  # the camera may still be on its way
    calm(page)


def test_the_export_button_gives_a_mesh_on_the_planes(page, folder, tmp_path):
    page.select_option("#export-name", "mesh.glb")
    with page.expect_download() as download:
        page.click("#export")
    assert download.value.suggested_filename == "mesh.glb"
    download.value.save_as(tmp_path / "mesh.glb")
    mesh = trimesh.load(tmp_path / "mesh.glb", force="mesh", process=False)
    result = Result.load(folder / "out")
    off = distances_to_planes(result, mesh.vertices * (1, -1, -1), mesh.faces, CAMERAS)
    assert off.max() <= TOLERANCE
    assert np.median(off) < 0.05
    calm(page)


def test_a_run_can_be_cancelled(page):
    page.uncheck("#live")
    for name, value in LONG.items():
        page.fill(f"#slider-{name}-exact", value)
    before = page.locator("#step-title").inner_text()
    run = start(page)
    expect(page.locator("#job")).to_contain_text("of 46")  # iterations are counted
    page.click("#cancel")
    finish(page, run, "cancelled")
    assert page.locator("#step-title").inner_text() == before  # the last result stays
    calm(page)


def test_a_slider_runs_again_and_its_iterations_can_be_stepped_through(page):
    before = page.locator("#step-title").inner_text()
    slider = page.locator("#slider-segmentation-count")
    slider.focus()
    for _ in range(8):
        slider.press("ArrowRight")
    wanted = int(page.locator("#slider-segmentation-count-exact").input_value())
    assert wanted > 50
    expect(page.locator(".slider.changed")).to_have_count(0)  # letting go of it is enough
    expect(page.locator("#job")).to_have_attribute("data-status", "done")
    title = page.locator("#step-title")
    expect(title).not_to_have_text(before)
    expect(title).to_contain_text("the result")
    assert int(page.locator("#step").get_attribute("max")) >= 3
    click_pixel(page, 80, 60)
    page.click("#step-back")
    expect(title).not_to_contain_text("the result")
    page.locator("#step").focus()
    page.keyboard.press("Home")
    expect(title).to_contain_text("local fits")
    assert fact(page, "pixel") == "80,60"  # the pixel is held
    calm(page)


def test_a_typed_number_runs_after_enter(page):
    page.uncheck("#live")  # which is about sliders only
    box = page.locator("#slider-segmentation-count-exact")
    before = int(page.locator("#job").get_attribute("data-run"))
    box.fill("40")
    expect(page.locator(".slider.changed")).to_have_count(1)  # typing alone starts nothing
    box.press("Enter")
    finish(page, before + 1, "done")
    expect(page.locator(".slider.changed")).to_have_count(0)
    assert box.input_value() == "40"
    calm(page)


def test_tabs_may_be_reloaded_and_closed_while_others_go_on(context, address):
    first, second = open_page(context, address), open_page(context, address)
    first.fill("#slider-segmentation-count-exact", "30")
    run = start(first)
    first.close()
    finish(second, run, "done")
    second.reload()
    ready(second)
    assert second.locator("#slider-segmentation-count-exact").input_value() == "30"
    assert int(second.locator("#step").get_attribute("max")) >= 3
    assert second.locator("#space-pane").get_attribute("data-key").split("-")[1] == str(run)
    calm(second)


def test_another_result_at_the_same_port_is_not_the_last_one(context, folder):
    """Browsers keep pictures for good; a key must not come back with another server."""
    other = folder / "other"
    with whole_folder(other) as staging:
        dark = scene().left // 8
        write_result(staging, estimated()[0], dark, CAMERAS, {}, scene().right)
    with viewing(folder, "out") as address:
        tab = open_page(context, address)
        tab.click("[data-layer=image]")
        expect(tab.locator("[data-layer=image]")).to_have_attribute("aria-selected", "true")
        tab.wait_for_load_state("networkidle")
        until(tab, lambda: seen(tab, "#picture").std() > 10)
        bright = seen(tab, "#picture")
    port = re.search(r":(\d+)/", address).group(1)
    with viewing(folder, "other", port=port) as again:
        assert again.partition("?")[0] == address.partition("?")[0]
        tab.reload()  # with the cookie of the other server
        assert tab.inner_text("body").startswith("the token is missing or wrong")
        tab = open_page(context, again)
        tab.click("[data-layer=image]")
        until(tab, lambda: seen(tab, "#picture").mean() < 0.6 * bright.mean())


def test_a_page_of_somebody_else_gets_nothing(context, monkeypatch):
    asked, problem = [], Guard.problem

    def noted(self, scope):
        found = problem(self, scope)
        asked.append((scope["path"], found is None))
        return found

    # A page on this machine, as browsers may keep others from reaching it at all.
    elsewhere = HTTPServer(("127.0.0.1", 0), Stranger)
    Thread(target=elsewhere.serve_forever, daemon=True).start()
    try:
        with served(session()) as client:
            client.post("/api/run", LONG_BODY)
            # Browsers send cookies to all ports of a host, whichever page asks.
            name, own = f"slanted-token-{client.port}", f"http://127.0.0.1:{client.port}"
            context.add_cookies([{"name": name, "value": TOKEN, "url": own}])
            monkeypatch.setattr(Guard, "problem", noted)
            tab = context.new_page()
            tab.goto(f"http://127.0.0.1:{elsewhere.server_port}/")
            address = f"http://127.0.0.1:{client.port}"
            read = "fetch(address + '/api/state').then(r => r.status, e => 'blocked')"
            assert tab.evaluate(f"address => {read}", address) == "blocked"
            tab.evaluate(
                """address => fetch(address + '/api/cancel', {method: 'POST', mode: 'no-cors'})
                     .catch(() => null)""",
                address,
            )
            tab.evaluate(
                """address => new Promise((done) => {
                     const frame = document.createElement('iframe');
                     frame.onload = done;
                     frame.src = address;
                     document.body.append(frame);
                   })""",
                address,
            )
            assert ("/api/cancel", False) in asked
            assert set(asked) == {("/api/state", False), ("/api/cancel", False), ("/", False)}
            monkeypatch.setattr(Guard, "problem", problem)
            job = client.get("/api/state").json()["job"]
            assert (job["number"], job["status"]) == (1, "running")
    finally:
        elsewhere.shutdown()
        elsewhere.server_close()


def test_the_token_is_kept_and_leaves_the_address(context):
    with served(session()) as client:
        bare = client.address.partition("?")[0]
        tab = context.new_page()
        assert tab.goto(bare).status == 403
        assert tab.inner_text("body").startswith("the token is missing or wrong")
        tab = open_page(context, client.address)
        assert tab.url == bare
        assert tab.evaluate("document.cookie") == ""  # scripts do not see it
        tab.reload()
        ready(tab)
        calm(tab)
        tab.close()


def test_a_link_with_the_token_opens_the_page(context):
    """A terminal in a browser shows the printed address as a link, on a page of another host."""
    elsewhere = HTTPServer(("127.0.0.1", 0), Stranger)
    Thread(target=elsewhere.serve_forever, daemon=True).start()
    try:
        with served(session()) as client:
            tab = context.new_page()
            tab.goto(f"http://localhost:{elsewhere.server_port}/")
            tab.evaluate("address => { location.href = address; }", client.address)
            ready(tab)
            assert tab.url == client.address.partition("?")[0]
            tab.close()
    finally:
        elsewhere.shutdown()
        elsewhere.server_close()


class Stranger(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><body>a page of another origin</body>")

    def log_message(self, *_):
        pass


def test_what_an_action_came_to_stays_until_it_works(page):
    page.route("**/api/run*", lambda route: route.fulfill(status=400, json={"problem": "no luck"}))
    page.click("#run")
    expect(page.locator("#trouble")).to_have_text("no luck")
    for _ in range(2):  # the page looks at the state meanwhile, which works
        with page.expect_response("**/api/state"):
            pass
    expect(page.locator("#trouble")).to_have_text("no luck")
    page.unroute("**/api/run*")
    page.route("**/api/state", lambda route: route.abort())
    expect(page.locator("#trouble")).to_contain_text("The server does not answer")
    page.unroute("**/api/state")
    expect(page.locator("#trouble")).to_have_text("no luck")


def test_mistakes_in_scripts_are_not_taken_for_a_lost_server(page):
    page.route("**/api/state", lambda route: route.fulfill(json={"serial": -5}))
    expect(page.locator("#trouble")).to_be_visible()
    assert "does not answer" not in page.locator("#trouble").inner_text()
    assert any("TypeError" in text for text in page.complaints)


def test_without_webgl_the_picture_is_there(context, address):
    tab = context.new_page()
    tab.add_init_script(
        """const get = HTMLCanvasElement.prototype.getContext;
           HTMLCanvasElement.prototype.getContext = function (kind, ...others) {
             return kind.startsWith('webgl') ? null : get.call(this, kind, ...others);
           };"""
    )
    tab.goto(address)
    tab.wait_for_selector("body[data-ready=true]")
    tab.check("#show-cloud")
    tab.select_option("#colouring", "layer")
    tab.wait_for_load_state("networkidle")
    expect(tab.locator("#counts")).to_contain_text("3D needs WebGL")
    assert tab.locator("#trouble").is_hidden()


def test_what_did_not_load_is_asked_for_again(context, address):
    tab, failed = context.new_page(), []

    def fail_once(route):
        failed.append(route.request.url)
        route.abort() if len(failed) == 1 else route.continue_()

    tab.route("**/mesh*", fail_once)
    tab.goto(address)
    ready(tab)
    assert len(failed) >= 2
    expect(tab.locator("#trouble")).to_be_hidden()


def test_geometry_that_is_not_shown_is_given_back(page):
    page.uncheck("#live")
    run = start(page)
    finish(page, run, "done")

    def step(button, places):
        wanted = int(page.locator("#step").input_value()) + places
        page.click(button)
        key = re.compile(f"-{run}-{wanted}$")
        expect(page.locator("#space-pane")).to_have_attribute("data-key", key)

    def few():  # the draft, the whole, the outline and the mark
        return int(page.locator("#space").get_attribute("data-geometries")) <= 4

    expect(page.locator("#space-pane")).to_have_attribute("data-key", re.compile(rf"-{run}-\d+$"))
    expect(page.locator("#step-title")).to_contain_text("the result")
    for _ in range(4):
        step("#step-back", -1)
        step("#step-on", 1)
        until(page, few)
    calm(page)


def test_the_newest_texture_wins(page):
    page.select_option("#colouring", "layer")
    held = []

    def hold(route):
        held.append(route)

    page.route("**/textures/labels", hold)
    page.click("[data-layer=labels]")
    until(page, lambda: held)
    page.click("[data-layer=planes]")
    expect(page.locator("#space")).to_have_attribute("data-texture", re.compile("/planes$"))
    with page.expect_response("**/textures/labels"):
        held[0].continue_()
    page.wait_for_timeout(800)  # in which it would be shown
    assert page.locator("#space").get_attribute("data-texture").endswith("/planes")
    calm(page)


def test_keys_of_the_browser_are_left_to_it(page):
    page.click("[data-layer=disparity]")
    page.keyboard.press("Alt+1")
    page.keyboard.press("Control+1")
    expect(page.locator("[data-layer=disparity]")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("1")
    expect(page.locator("[data-layer=image]")).to_have_attribute("aria-selected", "true")
