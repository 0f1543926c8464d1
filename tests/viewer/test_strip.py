"""The pairs of a batch, as the server tells and shows them."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from slanted.batch.scores import measure_of
from slanted.batch.summary import find_results, read_summary
from slanted.cli.view_batch import make_strip, open_with
from slanted.evaluation.metrics import evaluate
from slanted.output.result_data import json_text
from slanted.viewer import app as app_module
from slanted.viewer.session import NotThereError, Session
from slanted.viewer.strip import METRICS, MOST_OPEN, THUMBNAIL, Pair, Strip, small_picture
from viewer.batches import FAILED, disparity_of, name_of, write_batch
from viewer.client import Client, served
from viewer.waiting import until
from viewer.worlds import scene

PAIRS = 6
NO_CALIBRATION = dict.fromkeys(("calib", "calib_right", "baseline_unit", "fx", "baseline"))
SHORT = {"segmentation.count": 20, "inference.iterations": 1, "refinement.rounds": 0}


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    return write_batch(tmp_path_factory.mktemp("strip") / "out", PAIRS, truth=True)


def strip_of(batch, first=0):
    place = find_results(batch)[name_of(first)]
    opened = open_with(place, NO_CALIBRATION)
    session = Session(opened, opened.truth)
    return session, make_strip(batch, place, session, measure_of(batch, None), NO_CALIBRATION)


@pytest.fixture
def opened(batch):
    session, strip = strip_of(batch)
    with served(session, strip=strip) as client:
        yield strip, client


def test_pairs_have_the_numbers_of_the_summary(opened, batch):
    _, client = opened
    found = client.get("/api/pairs").json()
    rows = read_summary(batch)
    assert [pair["name"] for pair in found["pairs"]] == [row["name"] for row in rows]
    assert found["first"] == 0
    for pair, row in zip(found["pairs"], rows, strict=True):
        known = {name: row[name] for name in METRICS if row[name] is not None}
        assert known.items() <= pair["values"].items()
        assert bool(pair["why"]) == (row["status"] != "done")
    assert found["pairs"][-1]["why"] == "right.png: expected an image"
    names = [name for name, _ in found["metrics"]]
    assert {"seconds", "gap_percent", "matched_percent"} <= set(names)
    assert "noise" not in names  # no pair has it


def test_errors_are_those_of_evaluate(opened):
    _, client = opened
    listing = until(lambda: (a := client.get("/api/pairs").json())["left"] == 0 and a)
    for number in range(PAIRS):
        errors = evaluate(disparity_of(number), scene().disparity)
        values = listing["pairs"][number]["values"]
        for rule in ("D1-all", "epe-all", "out-3px-all"):
            assert values[rule] == pytest.approx(errors[rule], rel=1e-5)
        assert "AUC-all" in values  # the results have a confidence
    assert "epe-all" in [name for name, _ in listing["metrics"]]


def test_an_accident_while_measuring_does_not_keep_the_page_waiting(opened, monkeypatch, capsys):
    strip, client = opened
    score = strip._score

    def fail(number):
        if number == 1:
            raise MemoryError("for the test")
        return score(number)

    monkeypatch.setattr(strip, "_score", fail)
    listing = until(lambda: (a := client.get("/api/pairs").json())["left"] == 0 and a)
    known = ["epe-all" in pair["values"] for pair in listing["pairs"][:PAIRS]]
    assert known == [number != 1 for number in range(PAIRS)]
    assert "MemoryError: for the test" in capsys.readouterr().err


def test_without_ground_truth_nothing_is_measured(tmp_path):
    batch = write_batch(tmp_path / "out", 2)
    session, strip = strip_of(batch, first=1)
    with served(session, strip=strip) as client:
        found = client.get("/api/pairs").json()
        assert (found["left"], found["first"]) == (0, 1)
        assert not any("epe-all" in pair["values"] for pair in found["pairs"])


def test_every_pair_has_all_that_a_single_result_has(opened):
    _, client = opened
    keys = set()
    for number in range(PAIRS):
        state = client.get(f"/pairs/{number}/api/state").json()
        assert state["name"] == name_of(number).rpartition("/")[2]
        key = state["frames"][-1]["key"]
        keys.add(key)
        fact = client.get(f"/pairs/{number}/api/frames/{key}/pixels/30/40").json()
        assert fact["disparity"] == pytest.approx(float(disparity_of(number)[40, 30]))
        assert client.get(f"/pairs/{number}/api/frames/{key}/mesh").status_code == 200
    assert len(keys) == PAIRS
    assert client.get("/api/state").json()["name"] == "pair-000"  # the first one, as before


def test_pairs_run_by_themselves(opened):
    _, client = opened
    assert client.post("/pairs/2/api/run", SHORT).status_code == 202
    state = until(
        lambda: (a := client.get("/pairs/2/api/state").json())["job"]["status"] == "done" and a
    )
    assert len(state["frames"]) > 1
    assert client.get("/pairs/1/api/state").json()["job"]["status"] == "idle"
    assert client.get("/api/state").json()["job"]["status"] == "idle"


def test_requests_at_once_share_the_application_of_a_pair(opened, monkeypatch):
    strip, client = opened
    made, make_app = [], app_module.make_app

    def slow(session, **more):
        made.append(session)
        time.sleep(0.1)  # long enough for all the others to come
        return make_app(session, **more)

    monkeypatch.setattr(app_module, "make_app", slow)
    strip.session(1)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(client.get, ["/pairs/1/api/state"] * 8))
    assert {answer.status_code for answer in answers} == {200}
    assert made == [strip.session(1)]


def test_slow_answers_of_all_pairs_take_turns(opened, monkeypatch):
    _, client = opened
    at_once, most = [], []

    def slow(*_):
        at_once.append(1)
        most.append(len(at_once))
        time.sleep(0.5)  # time for one too many to begin
        at_once.pop()
        return b"cloud"

    monkeypatch.setattr("slanted.viewer.session.pack_cloud", slow)
    pairs = [f"/pairs/{number}" for number in range(1, 4)]
    keys = [client.get(f"{pair}/api/state").json()["frames"][-1]["key"] for pair in pairs]
    paths = [f"{pair}/api/frames/{key}/cloud" for pair, key in zip(pairs, keys, strict=True)]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(client.get, paths))
    assert {answer.status_code for answer in answers} == {200}
    assert max(most) <= app_module.MOST_AT_ONCE


def test_only_a_few_results_stay_open(opened):
    strip, client = opened
    for number in (*range(PAIRS), 1):
        assert client.get(f"/pairs/{number}/api/state").status_code == 200
    assert len(strip._open) <= MOST_OPEN
    assert 1 in strip._open
    assert strip.session(0) is strip._session  # the first one is never closed


def test_a_run_keeps_its_pair_open(opened):
    strip, client = opened
    long = {"segmentation.count": 1500, "inference.iterations": 10}
    assert client.post("/pairs/1/api/run", long).status_code == 202
    running = strip.session(1)
    for number in range(2, PAIRS):
        client.get(f"/pairs/{number}/api/state")
    assert running.state()["job"]["status"] != "running" or strip.session(1) is running
    client.post("/pairs/1/api/cancel")


def test_a_pair_just_opened_stays_open_while_all_others_run(opened, monkeypatch):
    strip, _ = opened
    running = [strip.session(number) for number in range(1, 1 + MOST_OPEN)]
    monkeypatch.setattr(Session, "is_running", lambda session: session in running)
    monkeypatch.setattr(Session, "state", lambda session: pytest.fail("too much under a lock"))
    new = strip.session(MOST_OPEN + 1)
    assert strip.is_open(new)
    running.pop(0)
    last = strip.session(MOST_OPEN + 2)
    assert all(strip.is_open(session) for session in (*running, last))
    assert not strip.is_open(new)


def test_small_pictures_are_those_of_the_files(opened, batch):
    strip, client = opened
    for kind, file in (("disparity", "disparity_colour.png"), ("image", "left.png")):
        answer = client.get(f"/api/thumbnails/{strip.key}/{kind}/3")
        assert answer.headers["content-type"] == "image/jpeg"
        picture = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
        assert picture.shape[1] <= THUMBNAIL
        whole = cv2.imread(str(batch / name_of(3) / file))[:120]  # without a legend
        wanted = cv2.resize(whole, picture.shape[1::-1], interpolation=cv2.INTER_AREA)
        assert picture.shape[0] == 120
        assert np.abs(picture.astype(int) - wanted).mean() < 6
    failed = client.get(f"/api/thumbnails/{strip.key}/disparity/{PAIRS}")
    grey = cv2.imdecode(np.frombuffer(failed.content, np.uint8), cv2.IMREAD_COLOR)
    assert np.ptp(grey) <= 2


@pytest.mark.parametrize("height", [float("nan"), float("inf"), 0, -7, 0.5, 10**400, "x", True])
def test_odd_numbers_of_a_summary_do_no_harm(opened, batch, height):
    strip, _ = opened
    row = {"name": name_of(3), "status": "done", "energy": float("nan"), "segments": 9}
    pair = Pair({**row, "height": height}, batch / name_of(3))
    odd = Strip([pair], 0, strip._session, strip._open_pair, lambda number: {"epe-all": height})
    picture = np.frombuffer(odd.thumbnail(0, "image"), np.uint8)
    assert cv2.imdecode(picture, cv2.IMREAD_COLOR).shape[:2] == (120, 160)
    listing = until(lambda: (a := odd.listing())["left"] == 0 and a)
    text = json_text(listing)
    assert "null" not in text
    values = json.loads(text, parse_int=float)["pairs"][0]["values"]
    assert values.pop("segments") == 9
    assert all(type(value) is float and np.isfinite(value) for value in values.values())


def test_a_picture_that_cannot_be_read_is_grey(tmp_path):
    (tmp_path / "left.png").write_bytes(b"nothing")
    for folder, name in ((tmp_path, "left.png"), (tmp_path, "none.png"), (None, "left.png")):
        data = np.frombuffer(small_picture(folder, name), np.uint8)
        assert np.ptp(cv2.imdecode(data, cv2.IMREAD_COLOR)) <= 2


def test_pictures_do_not_lead_out_of_the_folder(tmp_path):
    (tmp_path / "secret.png").write_bytes(
        cv2.imencode(".png", np.arange(256, dtype=np.uint8).reshape(16, 16))[1].tobytes()
    )
    folder = tmp_path / "result"
    folder.mkdir()
    (folder / "left.png").symlink_to(tmp_path / "secret.png")
    data = np.frombuffer(small_picture(folder, "left.png"), np.uint8)
    assert np.ptp(cv2.imdecode(data, cv2.IMREAD_COLOR)) <= 2


def test_what_does_not_exist_is_not_there(opened):
    strip, client = opened
    for path in (
        f"/pairs/{PAIRS + 1}/api/state",
        "/pairs/-1/api/state",
        "/pairs/x/api/state",
        f"/pairs/{'9' * 5000}/api/state",
        "/pairs/1/",
        "/pairs/1",
        "/pairs/1/assets/main.js",
        "/pairs/1/pairs/2/api/state",
        "/pairs/1/../../api/state",
        "/pairs/1/api/frames/9-9",
        f"/api/thumbnails/{strip.key}/disparity/{PAIRS + 1}",
        f"/api/thumbnails/{strip.key}/run.json/0",
        f"/api/thumbnails/{strip.key}/disparity/x",
        "/api/thumbnails/0123456789ab/disparity/0",
        f"/api/thumbnails/{strip.key}/..%2f..%2frun.json/0",
    ):
        assert client.get(path).status_code in (400, 404), path
    broken = client.get(f"/pairs/{PAIRS}/api/state")
    assert broken.status_code == 400
    assert broken.json()["problem"] == f"{FAILED}: right.png: expected an image"


def test_pairs_are_for_those_with_the_token_and_for_this_page(opened):
    strip, client = opened
    paths = ("/api/pairs", "/pairs/1/api/state", f"/api/thumbnails/{strip.key}/disparity/0")
    stranger = Client(client.port, token=None)
    for path in (*paths, "/api/scales"):
        assert client.get(path).status_code == 200
        assert stranger.get(path).status_code == 403
        assert client.get(path, {"host": "evil.example"}).status_code == 403
        assert client.get(path, {"origin": "http://evil.example"}).status_code == 403
        assert client.get(path, {"sec-fetch-site": "cross-site"}).status_code == 403
    assert stranger.post("/pairs/1/api/run", {}).status_code == 403
    assert client.get("/pairs/1/api/state").headers["x-content-type-options"] == "nosniff"


def test_a_single_result_has_no_strip(batch):
    session, _ = strip_of(batch)
    with served(session) as client:
        assert client.get("/api/pairs").json() == {"pairs": []}
        assert client.get("/pairs/0/api/state").status_code == 404


def test_a_result_that_went_missing_is_told(tmp_path):
    batch = write_batch(tmp_path / "out", 2)
    session, strip = strip_of(batch)
    (batch / name_of(1) / "result.npz").unlink()
    with served(session, strip=strip) as client:
        answer = client.get("/pairs/1/api/state")
        assert answer.status_code == 400
        assert "expected the folder of a result" in answer.json()["problem"]
        assert client.get("/pairs/0/api/state").status_code == 200
    with pytest.raises(NotThereError):
        strip.thumbnail(99, "disparity")
