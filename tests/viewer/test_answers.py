"""The server's answers about layers, parts of the image, lines, and what a result is compared with."""

import json
from dataclasses import replace

import cv2
import numpy as np
import pytest

from slanted.cli import main
from slanted.evaluation import Region, evaluate
from slanted.inference.outcome import Iteration
from slanted.matching import DisparityRange, match
from slanted.matching.interpolation import interpolate_background
from slanted.output.charts import energy_chart
from slanted.output.folder import whole_folder, write_result
from slanted.output.mesh import LEAST_DISPARITY
from slanted.output.pictures import colour_disparity, colour_error
from slanted.output.pixel_flag import PixelFlag
from slanted.output.pixel_maps import pixel_flags
from slanted.output.pixel_pictures import colour_depth, colour_flags, paint_occlusion
from slanted.result_folder import ResultFolder
from slanted.settings import MatchingSettings
from slanted.viewer.answers import energy_course
from slanted.viewer.others import sgbm_disparity
from slanted.viewer.session import Session
from viewer.client import served
from viewer.waiting import until
from viewer.worlds import CAMERAS, estimated, scene, session, sure

RESULT = estimated()[0]
FRAME = "/api/frames/0-0"


@pytest.fixture(scope="module")
def client():
    with served(session(confidence=True)) as opened:
        yield opened


@pytest.fixture(scope="module")
def comparing():
    other = replace(sure(RESULT), disparity=RESULT.disparity + np.float32(2))
    with served(session(compared=("another", other))) as opened:
        yield opened, other


def tile(client, layer, query="", frame=FRAME):
    answer = client.get(f"{frame}/tiles/{layer}/0/0/0{query}")
    assert answer.status_code == 200, answer.text
    return cv2.imdecode(np.frombuffer(answer.content, np.uint8), 1)[:, :, ::-1]


def test_new_layers_are_painted_from_the_maps(client):
    made = session(confidence=True)
    scale, depths = made.scene.scale, made.scene.depths
    np.testing.assert_array_equal(tile(client, "right"), scene().right)
    np.testing.assert_array_equal(tile(client, "matched"), colour_disparity(RESULT.matched, *scale))
    depth = CAMERAS.depth(RESULT.disparity, LEAST_DISPARITY)
    np.testing.assert_array_equal(tile(client, "depth"), colour_depth(depth, *depths))
    flags = pixel_flags(sure(RESULT))
    np.testing.assert_array_equal(tile(client, "flags"), colour_flags(flags))
    np.testing.assert_array_equal(tile(client, "occlusion"), paint_occlusion(scene().left, flags))
    names = [layer["name"] for layer in client.get(FRAME).json()["layers"]]
    assert {"confidence", "deviation"} <= set(names)
    assert "sky" not in names
    few = np.isfinite(depth)
    hidden = tile(client, "depth", "?confidence=60")
    kept = sure(RESULT).confidence >= 0.6
    np.testing.assert_array_equal(hidden[~kept & few], 0)
    np.testing.assert_array_equal(hidden[kept], tile(client, "depth")[kept])


def test_colours_can_be_chosen_for_maps_and_their_legends(client):
    scale = session().scene.scale
    painted = tile(client, "disparity", "?colours=turbo")
    np.testing.assert_array_equal(painted, colour_disparity(RESULT.disparity, *scale, "turbo"))
    np.testing.assert_array_equal(tile(client, "error", "?colours=turbo"), tile(client, "error"))
    legends = {
        colours: {each["name"]: each["legend"]["bar"] for each in described["layers"]}
        for colours in ("viridis", "turbo")
        for described in [client.get(f"{FRAME}?colours={colours}").json()]
    }
    for name, bar in legends["viridis"].items():
        chosen = name in ("disparity", "depth", "truth", "matched", "deviation")
        assert (legends["turbo"][name] != bar) == chosen, name
    for path in (f"{FRAME}?colours=x", f"{FRAME}/tiles/disparity/0/0/0?colours=../x"):
        assert client.get(path).status_code == 400


def test_the_figures_are_those_of_the_command(client, tmp_path, capsys):
    with whole_folder(tmp_path / "out") as staging:
        write_result(staging, sure(RESULT), scene().left, CAMERAS, {}, scene().right)
    np.save(tmp_path / "truth.npy", scene().disparity)
    for query, options in (
        ("", ()),
        ("?confidence=40", ("--min-confidence", "0.4")),
        (
            "?confidence=40&region=20,10,90,70",
            ("--min-confidence", "0.4", "--region", "20,10,90,70"),
        ),
    ):
        files = str(tmp_path / "out"), str(tmp_path / "truth.npy")
        with pytest.raises(SystemExit) as done:
            main(["evaluate", *files, "--json", *options])
        assert not done.value.code
        said = json.loads(capsys.readouterr().out)["mean"]
        told = client.get(f"{FRAME}/metrics{query}").json()
        assert told["metrics"] == pytest.approx(said)
        assert len(told["metrics"]) >= 9


def test_a_region_tells_its_flags_and_its_ground_truth(client):
    told = client.get(f"{FRAME}/metrics?region=20,10,90,70").json()
    flags = pixel_flags(sure(RESULT))[10:80, 20:110]
    assert told["pixels"] == 90 * 70
    assert told["known"] == np.isfinite(scene().disparity[10:80, 20:110]).sum()
    assert told["flags"] == pytest.approx(
        {flag.words(): 100 * ((flags & flag) > 0).mean() for flag in PixelFlag}
    )
    part = RESULT.disparity[10:80, 20:110]
    assert told["disparity"]["low"] == part.min()
    assert told["disparity"]["high"] == part.max()


@pytest.mark.parametrize(
    "query",
    ["region=", "region=1,2,3", "region=0,0,161,1", "region=0,0,0,0", "region=a,b,c,d",
     f"region={'9' * 3000},1,1,1", "confidence=x"],
)  # fmt: skip
def test_bad_regions_are_refused_in_a_sentence(client, query):
    answer = client.get(f"{FRAME}/metrics?{query}")
    assert answer.status_code == 400
    assert "expected" in answer.json()["problem"]


def test_without_ground_truth_there_are_no_errors():
    with served(session(truth=False)) as client:
        told = client.get(f"{FRAME}/metrics").json()
        assert told["metrics"] is None
        assert told["known"] == 0
        assert "error" not in [each["name"] for each in client.get(FRAME).json()["layers"]]


def test_a_profile_has_the_values_of_the_maps(client):
    told = client.get(f"{FRAME}/profile?from=10,20&to=150,90").json()
    u, v = np.array(told["u"]), np.array(told["v"])
    assert (u[0], v[0], u[-1], v[-1]) == (10, 20, 150, 90)
    assert told["disparity"] == RESULT.disparity[v, u].tolist()
    known = sure(RESULT)
    assert told["confidence"] == known.confidence[v, u].tolist()
    assert told["truth"] == scene().disparity[v, u].tolist()
    depth = CAMERAS.depth(RESULT.disparity, LEAST_DISPARITY)
    np.testing.assert_array_equal(np.array(told["depth"], float), depth[v, u])
    points = CAMERAS.points(RESULT.disparity)
    wanted = np.linalg.norm(points[90, 150] - points[20, 10])
    assert told["distance"] == pytest.approx(wanted, rel=1e-5)
    for query in ("", "from=1,2", "from=1,2&to=160,0", "from=1,2&to=a,b", "from=1,2&to=1"):
        assert client.get(f"{FRAME}/profile?{query}").status_code == 400


def test_a_profile_that_ends_in_the_sky_has_no_length():
    sky = np.zeros(RESULT.disparity.shape, bool)
    sky[:30] = True
    opened = ResultFolder("a", replace(RESULT, sky=sky), scene().left, None, CAMERAS, {})
    with served(Session(opened, prefix="")) as client:
        lines = ("from=10,20&to=150,90", "from=150,90&to=10,20", "from=10,40&to=150,90")
        found = [client.get(f"{FRAME}/profile?{line}").json()["distance"] for line in lines]
    assert found[:2] == [None, None]
    assert found[2] > 0


def test_another_result_has_all_its_layers_on_the_same_scale(comparing):
    client, other = comparing
    titles = client.get("/api/state").json()["others"]
    assert [each["name"] for each in titles] == ["given", "sgbm"]
    told = client.get("/api/others/given").json()
    assert told["title"] == "another"
    frame = f"/api/frames/{told['key']}"
    names = [each["name"] for each in told["layers"]]
    assert {"disparity", "depth", "error", "planes", "confidence"} <= set(names)
    scale = session().scene.scale
    painted = colour_disparity(other.disparity, *scale)
    np.testing.assert_array_equal(tile(client, "disparity", frame=frame), painted)
    fact = client.get(f"{frame}/pixels/40/30").json()
    assert fact["disparity"] == other.disparity[30, 40]
    assert fact["segment"] == RESULT.regions.label_image[30, 40]
    metrics = client.get(f"{frame}/metrics?region=5,5,60,60").json()["metrics"]
    wanted = evaluate(other.disparity, scene().disparity, region=Region(5, 5, 60, 60))
    assert metrics == pytest.approx(wanted)


def test_sgbm_is_made_once_and_is_a_map_alone(comparing, monkeypatch):
    client, _ = comparing
    calls = []
    monkeypatch.setattr(
        "slanted.viewer.others.sgbm_disparity",
        lambda *these: calls.append(these) or sgbm_disparity(*these),
    )
    told = [client.get("/api/others/sgbm").json() for _ in range(2)]
    assert told[0] == told[1]
    assert len(calls) == 1
    frame = f"/api/frames/{told[0]['key']}"
    names = [each["name"] for each in told[0]["layers"]]
    assert names == ["image", "right", "disparity", "depth", "error", "truth"]
    settings = MatchingSettings(method="sgbm")
    pair = scene().left, scene().right
    wanted = interpolate_background(match(*pair, settings, RESULT.searched))
    fact = client.get(f"{frame}/pixels/40/30").json()
    assert fact["disparity"] == wanted[30, 40]
    assert "segment" not in fact
    np.testing.assert_array_equal(
        tile(client, "error", frame=frame), colour_error(wanted, scene().disparity)
    )
    profile = client.get(f"{frame}/profile?from=0,5&to=50,5").json()
    assert profile["disparity"] == wanted[5, :51].tolist()
    assert "confidence" not in profile
    for path in ("tiles/planes/0/0/0", "mesh", "cloud", "exports/cloud.ply"):
        assert client.get(f"{frame}/{path}").status_code == 404, path
    assert client.get("/api/others/nonsense").status_code == 404


def test_sgbm_is_not_offered_without_the_pair():
    with served(session(right=False)) as client:
        assert client.get("/api/state").json()["others"] == []
        assert client.get("/api/others/sgbm").status_code == 404


def test_what_is_compared_stays_after_a_run(comparing):
    client, _ = comparing
    key = client.get("/api/others/given").json()["key"]
    before = client.get("/api/state").json()["job"]["number"]
    assert client.post("/api/run", {"segmentation.count": 30}).status_code == 202
    until(lambda: client.get("/api/state").json()["job"]["status"] == "done")
    assert client.get("/api/state").json()["job"]["number"] == before + 1
    assert client.get(f"/api/frames/{key}").status_code == 200


def test_large_pairs_get_the_mode_that_fits_into_memory(monkeypatch):
    monkeypatch.setattr("slanted.viewer.others.MOST_SGBM_BYTES", 1000)
    pair, searched = (scene().left, scene().right), DisparityRange(0, 48)
    small = MatchingSettings(method="sgbm")
    small = replace(small, sgbm=replace(small.sgbm, mode="3way"))
    wanted = interpolate_background(match(*pair, small, searched))
    np.testing.assert_array_equal(sgbm_disparity(*pair, searched), wanted)


@pytest.mark.parametrize("path", [f"{FRAME}/metrics", f"{FRAME}/profile", "/api/others/sgbm"])
def test_new_answers_need_the_token_and_the_name(client, path):
    assert client.get(path, {"authorization": "Bearer wrong"}).status_code == 403
    assert client.get(path, {"host": "elsewhere.example"}).status_code == 403
    assert client.get(path, {"sec-fetch-site": "cross-site"}).status_code == 403


def test_sliders_have_names_that_people_know(client):
    sliders = {each["path"]: each for each in client.get("/api/state").json()["sliders"]}
    smooth = sliders["model.weights.bdy2"]
    assert (smooth["name"], smooth["symbol"]) == ("smoothness", "w_bdy2")
    assert sliders["model.weights.bdy1"]["name"] == "boundary ownership"
    names = {each["name"] for each in sliders.values()}
    assert not names & {"seg", "bdy1", "bdy2", "jct", "crs", "col", "vis", "pho"}


def with_iterations(segments, energies, **settings):
    steps = tuple(
        Iteration(energy, energy - 1, 8, "gap", count)
        for count, energy in zip(segments, energies, strict=True)
    )
    made = RESULT.settings.with_text({name: str(value) for name, value in settings.items()})
    inference = replace(RESULT.inference, iterations=steps, initial_energy=99.0)
    return replace(RESULT, inference=inference, settings=made)


def test_the_course_of_the_energy_tells_where_segments_changed():
    rounds = {"inference.iterations": 2, "refinement.iterations": 1, "refinement.rounds": 2}
    # The last round kept the number of segments, but not the segments.
    course = energy_course(with_iterations([50, 50, 60, 60], [9, 8, 12, 11], **rounds))
    assert [moment["iteration"] for moment in course] == [0, 1, 2, 3, 4]
    assert [moment["changed"] for moment in course] == [False, False, False, True, True]
    assert [moment["energy"] for moment in course] == [99, 9, 8, 12, 11]
    rounds["inference.iterations"] = 7  # the run ended early: numbers of segments tell
    course = energy_course(with_iterations([50, 50, 60, 60], [9, 8, 12, 11], **rounds))
    assert [moment["changed"] for moment in course] == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("first", "later", "rounds", "segments"),
    [
        (2, 1, 2, [50, 50, 60, 60]),
        (7, 1, 2, [50, 50, 60, 60]),  # ended early
        (3, 1, 2, [50, 50, 50, 50]),  # ended early, in a round of refinement
        (0, 2, 2, [50, 50, 50, 50]),  # all iterations are of refinement
        (4, 0, 3, [50, 50, 50, 50]),
    ],
)
def test_the_chart_and_the_page_mark_the_same_iterations(first, later, rounds, segments):
    names = ("inference.iterations", "refinement.iterations", "refinement.rounds")
    made = dict(zip(names, (first, later, rounds), strict=True))
    result = with_iterations(segments, [9, 8, 12, 11], **made)
    course = energy_course(result)
    on_page = [moment["iteration"] - 0.5 for moment in course if moment["changed"]]
    assert on_page == [each.x for each in energy_chart(result.inference, result.settings).breaks]
    expected = {(2, 1, 2): [2.5, 3.5], (7, 1, 2): [2.5], (0, 2, 2): [2.5]}
    assert on_page == expected.get((first, later, rounds), [])


def test_a_result_without_iterations_has_no_course():
    assert energy_course(with_iterations([], [])) == []
