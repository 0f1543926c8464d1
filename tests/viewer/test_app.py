"""The server's answers, without a browser."""

import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import cv2
import numpy as np
import pytest
import trimesh

from output.on_planes import distances_to_planes
from slanted.errors import InputError
from slanted.output.mesh import TOLERANCE
from slanted.output.pictures import colour_confidence
from slanted.output.pixel_flag import PixelFlag
from slanted.output.space import Space
from slanted.partition.label_image import label_image_from_user
from slanted.result_folder import ResultFolder
from slanted.viewer.app import MOST_AT_ONCE
from slanted.viewer.frames import MOST_DRAWN, final_frame
from slanted.viewer.geometry import pack_cloud, pack_mesh
from slanted.viewer.layers import KINDS, layer_names, paint_layer
from slanted.viewer.pixel import describe_pixel
from slanted.viewer.responses import ASSETS
from slanted.viewer.session import Session
from slanted.viewer.tiles import TILE, cut_tile, layer_cache
from viewer.client import served
from viewer.waiting import PATIENCE, until
from viewer.worlds import CAMERAS, estimated, scene, session, sure

RESULT = estimated()[0]
LONG = {"segmentation.count": 1500, "inference.iterations": 10, "refinement.rounds": 6,
        "refinement.iterations": 6}  # fmt: skip


@pytest.fixture
def opened():
    made = session()
    with served(made) as client:
        yield made, client


@pytest.fixture
def client(opened):
    return opened[1]


def job(client):
    return client.get("/api/state").json()["job"]


def wait_for(client, status):
    until(lambda: job(client)["status"] != "running")
    assert job(client)["status"] == status, job(client)
    return client.get("/api/state").json()


def test_the_page_and_its_parts_are_there_and_nothing_else(client):
    page = client.get("/")
    assert page.status_code == 200
    assert "script-src 'self' 'sha256-" in page.headers["content-security-policy"]
    for path in ASSETS:
        answer = client.get(f"/assets/{path}")
        assert answer.status_code == 200, path
        assert answer.content
    for path in (
        "/assets/index.html",
        "/assets/../app.py",
        "/assets/..%2fapp.py",
        "/assets/%2e%2e/%2e%2e/settings.py",
        "/assets//etc/passwd",
        "/run.json",
        "/api/frames/0-0/exports/result.npz",
        "/api/frames/0-0/exports/..%2frun.json",
        "/api/frames/9-9",
        "/api/frames/0-0/tiles/nonsense/0/0/0",
        "/api/frames/0-0/tiles/image/0/7/0",
        "/api/frames/0-0/tiles/image/99/0/0",
        f"/api/frames/0-0/tiles/image/0/{'9' * 5000}/0",
        f"/api/frames/0-0/pixels/{'9' * 5000}/0",
    ):
        assert client.get(path).status_code in (400, 404), path


def test_the_state_tells_what_there_is(client):
    state = client.get("/api/state").json()
    assert (state["width"], state["height"], state["unit"]) == (160, 120, "m")
    assert [frame["key"] for frame in state["frames"]] == ["0-0"]
    assert state["job"]["status"] == "idle"
    assert {slider["path"] for slider in state["sliders"]} >= {
        "segmentation.count", "inference.iterations", "model.weights.bdy2",
    }  # fmt: skip
    described = client.get("/api/frames/0-0").json()
    names = [layer["name"] for layer in described["layers"]]
    assert names == [
        *("image", "right", "disparity", "depth", "error", "truth", "matched", "occlusion"),
        *("flags", "segments", "labels", "planes", "margins"),
    ]
    assert set(names) <= set(KINDS)
    assert all(layer["title"] for layer in described["layers"])
    assert all(layer["legend"]["title"] for layer in described["layers"])


def test_a_pixel_is_told_as_the_result_has_it(client):
    for u, v in ((0, 0), (77, 31), (159, 119)):
        fact = client.get(f"/api/frames/0-0/pixels/{u}/{v}").json()
        assert fact["disparity"] == RESULT.disparity[v, u]
        assert fact["depth"] == pytest.approx(float(CAMERAS.depth(RESULT.disparity)[v, u]))
        segment = int(RESULT.regions.label_image[v, u])
        assert fact["segment"] == segment
        assert fact["plane"] == RESULT.planes[segment].tolist()
        assert fact["truth"] == scene().disparity[v, u]
        assert {each["segment"] for each in fact["neighbours"]} == set(
            RESULT.regions.neighbours(segment).tolist()
        )
        labels = {"coplanar", "hinge", "hides it", "hidden by it"}
        assert {each["label"] for each in fact["neighbours"]} <= labels
    assert client.get("/api/frames/0-0/pixels/160/0").status_code == 400
    assert client.get("/api/frames/0-0/pixels/-1/0").status_code == 404


@pytest.fixture
def sure_client():
    with served(session(confidence=True)) as client:
        yield client


def test_a_pixel_tells_its_confidence_and_flags(client, sure_client):
    known = sure(RESULT)
    for u, v in ((0, 0), (20, 50), (159, 119)):
        fact = sure_client.get(f"/api/frames/0-0/pixels/{u}/{v}").json()
        assert fact["confidence"] == known.confidence[v, u]
        assert fact["deviation"] == known.deviation[v, u]
        assert fact["flags"] == PixelFlag(int(known.valid[v, u])).words()
    assert "low confidence" in sure_client.get("/api/frames/0-0/pixels/1/1").json()["flags"]
    plain = client.get("/api/frames/0-0/pixels/1/1").json()
    assert plain["confidence"] is plain["deviation"] is None
    assert "low confidence" not in plain["flags"]


def test_confidence_is_a_layer_where_there_is_one(client, sure_client):
    names = {
        which: [layer["name"] for layer in each.get("/api/frames/0-0").json()["layers"]]
        for which, each in (("plain", client), ("sure", sure_client))
    }
    assert "confidence" not in names["plain"]
    assert {"confidence", "margins"} <= set(names["sure"])
    assert client.get("/api/frames/0-0/tiles/confidence/0/0/0").status_code == 404
    tile = sure_client.get("/api/frames/0-0/tiles/confidence/0/0/0").content
    picture = cv2.imdecode(np.frombuffer(tile, np.uint8), 1)[:, :, ::-1]
    np.testing.assert_array_equal(picture, colour_confidence(sure(RESULT).confidence))


def test_what_is_below_the_threshold_is_hidden(client, sure_client):
    kept = sure(RESULT).confidence >= 0.6
    frame = "/api/frames/0-0"

    def tile(at, layer, percent):
        content = at.get(f"{frame}/tiles/{layer}/0/0/0?confidence={percent}").content
        return cv2.imdecode(np.frombuffer(content, np.uint8), 1)

    whole = tile(sure_client, "disparity", 0)
    np.testing.assert_array_equal(
        tile(sure_client, "disparity", 60), np.where(kept[..., None], whole, 0)
    )
    for layer in ("planes", "confidence"):
        np.testing.assert_array_equal(tile(sure_client, layer, 60), tile(sure_client, layer, 0))
    count = np.frombuffer(sure_client.get(f"{frame}/cloud?confidence=60").content[:4], "<u4")
    everything = np.frombuffer(sure_client.get(f"{frame}/cloud").content[:4], "<u4")
    assert count == kept.sum()
    assert everything == kept.size
    vertices, faces = np.frombuffer(
        sure_client.get(f"{frame}/mesh?confidence=60").content[:8], "<u4"
    )
    data = np.frombuffer(sure_client.get(f"{frame}/mesh?confidence=60").content, "<f4", offset=8)
    across = data[3 * vertices : 5 * vertices].reshape(-1, 2)[:, 0] * 160
    assert faces
    assert across.min() == pytest.approx(np.argmax(kept[0]))
    files = sure_client.get(f"{frame}/exports/cloud.ply?confidence=60").content
    assert len(trimesh.load(io.BytesIO(files), file_type="ply").vertices) == kept.sum()
    # Without a confidence nothing can be hidden, and nothing is refused.
    np.testing.assert_array_equal(tile(client, "disparity", 60), tile(client, "disparity", 0))
    assert client.get(f"{frame}/mesh?confidence=60").content == client.get(f"{frame}/mesh").content


def test_angles_are_computed_once_for_all_steps_of_a_mesh(monkeypatch):
    calls = []
    oblique = Space.oblique
    monkeypatch.setattr(Space, "oblique", lambda *of: calls.append(1) or oblique(*of))
    made = session()
    few = final_frame("x", RESULT).mesh(made.scene.source(RESULT).space, 400)
    assert 0 < len(few.faces) <= 400
    assert len(calls) == 1


def test_everything_may_be_hidden_and_thresholds_are_checked(sure_client):
    frame = "/api/frames/0-0"
    made = session(confidence=True)
    doubtful = replace(sure(RESULT), confidence=np.zeros((120, 160)))
    hidden = final_frame("x", doubtful)
    assert pack_mesh(made.scene, hidden, 1000, 50)[:8] == bytes(8)
    assert pack_cloud(made.scene, hidden, 1000, 50) == bytes(4)
    assert sure_client.get(f"{frame}/mesh?confidence=much").status_code == 400
    most = sure_client.get(f"{frame}/cloud?confidence=100").content
    assert sure_client.get(f"{frame}/cloud?confidence=1000").content == most


def test_states_on_the_way_have_no_confidence():
    made = session(confidence=True, snapshots=True)
    keys = [each["key"] for each in made.state()["frames"]]
    assert made.frame(keys[0]).result.confidence is None
    assert made.packed(keys[0], "cloud", 500, 90) == made.packed(keys[0], "cloud", 500, 0)
    assert made.export(keys[0], "cloud.ply", 90) == made.export(keys[0], "cloud.ply")
    assert "confidence" in layer_names(made.scene, made.frame(keys[-1]))


def test_the_sky_has_no_place_in_space_and_no_depth_under_the_cursor():
    sky = np.zeros(RESULT.disparity.shape, bool)
    sky[:60] = True
    frames = {}
    for name, mask in (("with", sky), ("without", None)):
        opened = ResultFolder("a", replace(RESULT, sky=mask), scene().left, None, CAMERAS, {})
        made = Session(opened, snapshots=estimated()[1])
        keys = [each["key"] for each in made.state()["frames"]]
        frames[name] = [(made, keys[0]), (made, keys[-1])]
    for (some, key), (whole, other) in zip(frames["with"], frames["without"], strict=True):
        (count,), rest = unpacked(some.packed(key, "cloud", 10**6), 1)
        assert count == (~sky).sum()
        places = np.frombuffer(rest, "<f4", count * 2, count * 12).reshape(-1, 2)
        assert (places[:, 1] < 0.5).all()
        (vertices, _), rest = unpacked(some.packed(key, "mesh", 10**6), 2)
        places = np.frombuffer(rest, "<f4", vertices * 2, vertices * 12).reshape(-1, 2)
        assert places[:, 1].max() == pytest.approx(0.5)
        assert vertices < unpacked(whole.packed(other, "mesh", 10**6), 2)[0][0]
        above, below = (describe_pixel(some.scene, some.frame(key), 80, v) for v in (59, 60))
        assert above["depth"] is None
        assert below["depth"] > 0
        assert above["disparity"] == whole.frame(other).result.disparity[59, 80]


def test_the_page_starts_with_the_threshold_of_the_run():
    strict = RESULT.settings.with_text({"confidence.min": "0.85"})
    opened = ResultFolder("a", replace(sure(RESULT), settings=strict), None, None, None, {})
    assert Session(opened).state()["least"] == 85
    assert session().state()["least"] == 0


def test_tiles_make_up_the_layer(client):
    answer = client.get("/api/frames/0-0/tiles/disparity/0/0/0")
    assert "immutable" in answer.headers["cache-control"]
    tile = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)[:, :, ::-1]
    made = session()
    painted = paint_layer(made.scene, made.frame("0-0"), "disparity").picture
    np.testing.assert_array_equal(tile, painted)
    half = client.get("/api/frames/0-0/tiles/labels/1/0/0").content
    assert cv2.imdecode(np.frombuffer(half, np.uint8), 1).shape == (60, 80, 3)
    texture = client.get("/api/frames/0-0/textures/image")
    assert texture.headers["content-type"] == "image/jpeg"


@pytest.mark.parametrize("level", [0, 1, 2])
def test_tiles_of_large_pictures_cover_them_once(level):
    made = session()
    layer = paint_layer(made.scene, made.frame("0-0"), "labels")
    large = type(layer)(
        np.tile(layer.picture, (9, 8, 1)), np.tile(layer.lines, (9, 8)), layer.palette
    )
    height, width = large.picture.shape[:2]
    side = TILE << level
    covered = 0
    for row in range(-(-height // side)):
        for column in range(-(-width // side)):
            content = cut_tile(large, level, column, row)
            shape = cv2.imdecode(np.frombuffer(content, np.uint8), 1).shape
            covered += shape[0] * shape[1]
    assert covered == -(-height // 2**level) * -(-width // 2**level)
    assert cut_tile(large, level, 99, 0) is None


def test_lines_stay_visible_in_small_pictures():
    made = session()
    layer = paint_layer(made.scene, made.frame("0-0"), "segments")
    small = cv2.imdecode(np.frombuffer(cut_tile(layer, 2, 0, 0), np.uint8), 1)[:, :, ::-1]
    lines = (small == layer.palette[0]).all(axis=2)
    blocks = layer.lines.reshape(30, 4, 40, 4).any(axis=(1, 3))
    np.testing.assert_array_equal(lines, blocks)


def test_the_cache_keeps_what_fits():
    made = session()
    made._layers = layer_cache(most_bytes=2 * 160 * 120 * 3)
    names = layer_names(made.scene, made.frame("0-0"))
    first = made.layer("0-0", names[0])
    assert made.layer("0-0", names[0]) is first
    for name in names:
        made.layer("0-0", name)
    assert len(made._layers) <= 2
    assert made.layer("0-0", names[0]) is not first


def test_meshes_are_packed_once(monkeypatch):
    made, packed = session(), []
    monkeypatch.setattr(
        "slanted.viewer.session.pack_mesh", lambda *these: packed.append(these) or b"mesh"
    )
    assert made.packed("0-0", "mesh", 500) == made.packed("0-0", "mesh", 500)
    made.packed("0-0", "mesh", 600)
    assert len(packed) == 2


def test_heavy_answers_wait_their_turn_and_light_ones_do_not(client, monkeypatch):
    at_once, most, go_on = [], [], Event()

    def slow(*_):
        at_once.append(1)
        most.append(len(at_once))
        assert go_on.wait(PATIENCE)
        at_once.pop()
        return b"cloud"

    monkeypatch.setattr("slanted.viewer.session.pack_cloud", slow)
    with ThreadPoolExecutor(60) as pool:
        paths = [f"/api/frames/0-0/cloud?points={k + 1}" for k in range(50)]
        answers = [pool.submit(client.get, path) for path in paths]
        try:
            until(lambda: len(at_once) >= MOST_AT_ONCE)
            assert client.get("/api/frames/0-0/tiles/image/0/0/0").status_code == 200
        finally:
            go_on.set()
        assert {answer.result().status_code for answer in answers} == {200}
    assert max(most) <= MOST_AT_ONCE


def test_states_are_drawn_when_they_are_looked_at():
    made = session(snapshots=True)
    frames = [made.frame(each["key"]) for each in made.state()["frames"]]
    assert len(frames) > MOST_DRAWN + 1
    assert len(frames[0].drawn) == 0
    for frame in frames[:-1]:
        snapshot = frame.snapshot
        assert frame.result is frame.result
        np.testing.assert_array_equal(frame.result.planes, snapshot.planes)
        assert frame.result.disparity.shape == (120, 160)
    assert len(frames[0].drawn) == MOST_DRAWN
    assert frames[-1].result is RESULT


def test_what_was_made_of_frames_that_are_gone_is_forgotten(opened):
    made, client = opened
    client.get("/api/frames/0-0/tiles/image/0/0/0")
    client.get("/api/frames/0-0/mesh")
    assert (len(made._layers), len(made._packed)) == (1, 1)
    client.post("/api/run", {"segmentation.count": 20})
    wait_for(client, "done")
    assert (len(made._layers), len(made._packed)) == (0, 0)


def unpacked(content, counts):
    numbers = np.frombuffer(content, "<u4", counts)
    return numbers, content[4 * counts :]


def test_the_mesh_comes_as_it_is(client):
    content = client.get("/api/frames/0-0/mesh").content
    (vertices, triangles), rest = unpacked(content, 2)
    assert len(rest) == vertices * 20 + triangles * 12
    positions = np.frombuffer(rest, "<f4", vertices * 3).reshape(-1, 3)
    indices = np.frombuffer(rest, "<u4", triangles * 3, vertices * 20)
    assert indices.max() == vertices - 1
    faces = indices.reshape(-1, 3)
    off = distances_to_planes(RESULT, positions * (1, -1, -1), faces, CAMERAS)
    assert off.max() <= TOLERANCE
    coarse = client.get("/api/frames/0-0/mesh?triangles=1500").content
    assert 100 < unpacked(coarse, 2)[0][1] <= 1500
    assert client.get("/api/frames/0-0/mesh?triangles=x").status_code == 400


@pytest.mark.parametrize("most", [1, 100, 5000, 10**9])
def test_the_cloud_is_thinned(client, most):
    content = client.get(f"/api/frames/0-0/cloud?points={most}").content
    (count,), rest = unpacked(content, 1)
    assert 1 <= count <= most
    assert count >= min(most, 160 * 120) / 4
    positions = np.frombuffer(rest, "<f4", count * 3).reshape(-1, 3)
    places = np.frombuffer(rest, "<f4", count * 2, count * 12).reshape(-1, 2)
    u, v = (
        np.rint(places[:, 0] * 160 - 0.5).astype(int),
        np.rint((1 - places[:, 1]) * 120 - 0.5).astype(int),
    )
    depth = CAMERAS.depth(RESULT.disparity)[v, u]
    np.testing.assert_allclose(-positions[:, 2], depth, rtol=1e-5)
    assert client.get("/api/frames/0-0/cloud?points=-3").status_code == 400


def test_exports_are_files_that_open(client):
    glb = client.get("/api/frames/0-0/exports/mesh.glb")
    assert glb.headers["content-disposition"] == 'attachment; filename="mesh.glb"'
    mesh = trimesh.load(io.BytesIO(glb.content), file_type="glb", force="mesh", process=False)
    off = distances_to_planes(RESULT, mesh.vertices * (1, -1, -1), mesh.faces, CAMERAS)
    assert off.max() <= TOLERANCE
    archive = zipfile.ZipFile(io.BytesIO(client.get("/api/frames/0-0/exports/mesh.obj").content))
    assert set(archive.namelist()) == {"mesh.obj", "mesh.mtl", "mesh_texture.png"}
    with served(session(calibration=None)) as uncalibrated:
        assert "depth.png" not in uncalibrated.get("/api/state").json()["exports"]
        assert uncalibrated.get("/api/frames/0-0/exports/depth.png").status_code == 400


def test_a_run_changes_what_is_shown_and_keeps_its_iterations(client):
    answer = client.post("/api/run", {"segmentation.count": 20, "model.weights.bdy2": 10.5})
    assert answer.status_code == 202
    assert answer.json()["job"]["status"] == "running"
    assert client.post("/api/run", {}).status_code == 409
    state = wait_for(client, "done")
    frames = state["frames"]
    assert [frame["key"] for frame in frames] == [f"1-{k}" for k in range(len(frames))]
    assert [frame["final"] for frame in frames] == [False] * (len(frames) - 1) + [True]
    assert frames[0]["title"] == "local fits"
    assert frames[-1]["segments"] < RESULT.regions.count
    values = {slider["path"]: slider["value"] for slider in state["sliders"]}
    assert (values["segmentation.count"], values["model.weights.bdy2"]) == (20, 10.5)
    assert client.get("/api/frames/0-0").status_code == 404  # its place was taken
    first = client.get("/api/frames/1-0").json()
    assert "margins" not in [layer["name"] for layer in first["layers"]]
    shapes = {client.get(f"/api/frames/{frame['key']}/mesh").content for frame in frames}
    assert len(shapes) > 2


def test_a_run_can_be_cancelled_and_leaves_the_result(opened):
    made, client = opened
    client.post("/api/run", LONG)
    until(lambda: job(client)["text"] != "starting")
    assert client.post("/api/cancel").status_code == 202
    state = wait_for(client, "cancelled")
    assert [frame["key"] for frame in state["frames"]] == ["0-0"]
    assert made.frame("0-0").result is RESULT
    client.post("/api/run", {"segmentation.count": 20})
    wait_for(client, "done")


def test_a_run_can_take_the_place_of_another(client):
    client.post("/api/run", LONG)
    until(lambda: job(client)["text"] != "starting")
    answer = client.post("/api/run?replace=true", {"segmentation.count": 20})
    assert answer.status_code == 202
    assert answer.json()["job"]["number"] == 2
    state = wait_for(client, "done")
    values = {slider["path"]: slider["value"] for slider in state["sliders"]}
    assert values["segmentation.count"] == 20
    assert values["inference.iterations"] != LONG["inference.iterations"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"segmentation.count": -3}, "segmentation.count: expected 10 to 4000, got -3"),
        ({"inference.iterations": 1000}, "inference.iterations: expected 0 to"),
        ({"refinement.rounds": 10**400}, "refinement.rounds: expected 0 to"),
        ({"model.weights.bdy2": float("nan")}, "model.weights.bdy2: expected 0 to"),
        ({"segmentation.count": 20.5}, "segmentation.count: expected a whole number"),
        ({"segmentation.count": "20"}, "expected a number"),
        ({"segmentation.ucm.contours": 1}, "cannot be changed here"),
        ([1], "a JSON object"),
    ],
)
def test_bad_settings_are_refused(client, body, message):
    answer = client.post("/api/run", body)
    assert answer.status_code == 400
    assert message in answer.json()["problem"]
    assert client.get("/api/state").json()["job"]["status"] == "idle"


def test_bad_bodies_are_refused(client):
    for body in (b"{", b"[" * 50000, b" " * 200000):
        assert client.post("/api/run", body).status_code == 400
    assert client.post("/api/run", b"{}", headers={}).status_code == 400  # as a form would be
    assert client.get("/api/run").status_code == 405


def test_other_pages_are_refused_by_the_server_itself(client):
    own = f"127.0.0.1:{client.port}"
    for headers in (
        {"Host": "evil.example"},
        {"Host": f"evil.example:{client.port}"},
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        for path in ("/", "/api/state", "/api/frames/0-0/mesh"):
            assert client.get(path, headers).status_code == 403
        kind = {"content-type": "application/json", **headers}
        assert client.post("/api/run", {}, kind).status_code == 403
    assert client.get("/api/state", {"Origin": f"http://{own}"}).status_code == 200
    for path in ("/", "/api/state", "/assets/main.js", "/api/frames/0-0/mesh", "/nothing"):
        for headers in ({}, {"Origin": "http://evil.example"}):
            found = client.get(path, headers).headers
            assert found["cross-origin-resource-policy"] == "same-origin"
            assert found["x-content-type-options"] == "nosniff"
            assert "frame-ancestors 'none'" in found["content-security-policy"]
    assert client.get("/api/state").json()["job"]["status"] == "idle"


def test_what_goes_wrong_in_a_run_is_told(client, monkeypatch):
    def fail(*_, **__):
        raise InputError("nothing: expected something")

    monkeypatch.setattr("slanted.pipeline.reestimate", fail)
    client.post("/api/run", {})
    state = wait_for(client, "failed")
    assert state["job"]["text"] == "nothing: expected something"
    assert [frame["key"] for frame in state["frames"]] == ["0-0"]


def test_segments_that_were_given_are_kept():
    made = session(record={"inputs": {"segments": "mine.png"}})
    with served(made) as client:
        state = client.get("/api/state").json()
        assert "segmentation.count" not in {slider["path"] for slider in state["sliders"]}
        assert client.post("/api/run", {"segmentation.count": 20}).status_code == 400
        assert client.post("/api/run", {"model.weights.bdy2": 10.5}).status_code == 202
        last = wait_for(client, "done")["frames"][-1]["key"]
        given = label_image_from_user(RESULT.regions.label_image, (120, 160))
        np.testing.assert_array_equal(made.frame(last).result.regions.label_image, given)


def test_without_the_right_image_nothing_can_be_run():
    with served(session(right=False)) as client:
        assert "the pair was not found" in client.get("/api/state").json()["why_no_run"]
        assert client.post("/api/run", {}).status_code == 400


def test_without_images_or_depth_there_is_still_something_to_see():
    bare = session(truth=False, right=False, calibration=replace(CAMERAS, doffs_pixels=-1000.0))
    bare.scene = replace(bare.scene, left=None)
    with served(bare) as client:
        for layer in client.get("/api/frames/0-0").json()["layers"]:
            assert client.get(f"/api/frames/0-0/tiles/{layer['name']}/0/0/0").status_code == 200
        assert unpacked(client.get("/api/frames/0-0/mesh").content, 2)[0].tolist() == [0, 0]
        assert unpacked(client.get("/api/frames/0-0/cloud").content, 1)[0].tolist() == [0]
        assert client.get("/api/frames/0-0/exports/mesh.glb").status_code == 400
        assert client.get("/api/frames/0-0/pixels/3/4").json()["depth"] is None


def test_snapshots_of_the_first_run_are_shown():
    with served(session(snapshots=True)) as client:
        frames = client.get("/api/state").json()["frames"]
    assert len(frames) == len(estimated()[1])
    assert frames[-1]["title"].endswith("the result")
    assert any(frame["title"].startswith("segments refined") for frame in frames)


def test_two_servers_have_no_key_in_common():
    first, second = session(prefix=None), session(prefix=None)
    assert first.state()["frames"][0]["key"] != second.state()["frames"][0]["key"]


def test_answers_are_json_without_nan(client):
    for path in ("/api/state", "/api/frames/0-0", "/api/frames/0-0/pixels/3/4"):
        json.loads(client.get(path).text, parse_constant=pytest.fail)
