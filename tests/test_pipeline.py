"""The pipeline as a library: results, checks, determinism, no printing."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import slanted
from slanted.confidence.weights import SHIPPED, Weights
from slanted.errors import InputError
from slanted.evaluation.metrics import evaluate
from slanted.images.colour import brightened
from slanted.matching import match
from slanted.pipeline import reestimate
from slanted.solver.topology import SMALLEST_BLOCK
from slanted.synthetic import make_scene

STAGES = [
    *("first look", "matching", "segmentation", "evidence", "regions", "inference"),
    *("evidence", "refinement", "regions", "inference", "drawing", "confidence"),
]


@pytest.fixture(scope="module")
def scene():
    return make_scene(240, 160, seed=4)


def test_a_synthetic_scene_is_recovered(scene):
    result = slanted.estimate(scene.left, scene.right)
    assert result.disparity.dtype == np.float32
    assert np.isfinite(result.disparity).all()
    visible = np.where(scene.occluded, np.nan, scene.disparity)
    assert evaluate(result.disparity, scene.disparity, ground_truth_noc=visible)["out-3px-noc"] < 6
    assert (result.occluded == scene.occluded).mean() > 0.9


def test_a_dark_pair_is_estimated_as_if_it_were_brightened(scene):
    dark = [image // 8 for image in (scene.left, scene.right)]
    result = slanted.estimate(*dark)
    bright = slanted.estimate(*brightened(*dark))
    assert result.disparity.tobytes() == bright.disparity.tobytes()
    assert match(*dark, slanted.Settings().matching).tobytes() == (
        match(*brightened(*dark), slanted.Settings().matching).tobytes()
    )


def test_a_dark_pair_is_brightened_once(scene, monkeypatch):
    from slanted.matching import finer

    seen = []

    def spy(left, *others):
        seen.append(left.max())
        return find_finer(left, *others)

    find_finer = finer.find_finer
    monkeypatch.setattr(finer, "find_finer", spy)
    dark = [image // 20 for image in (scene.left, scene.right)]
    slanted.estimate(*dark, slanted.Settings().with_text({"rectification.check": "off"}))
    assert seen == [brightened(*dark)[0].max()]
    assert seen[0] < 128  # it would be brightened again, if it were looked at again


def test_a_folder_of_an_older_version_has_its_own_grid(scene, tmp_path):
    changes = {"matching.census.finer": "1", "model.strip_step": "0", "model.relief": "0"}
    result = slanted.estimate(scene.left, scene.right, slanted.Settings().with_text(changes))
    result.save(tmp_path)
    record = json.loads((tmp_path / "run.json").read_text())
    del record["finer"], record["relief"]
    (tmp_path / "run.json").write_text(json.dumps(record))
    lines = (tmp_path / "settings.toml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("finer", "strip_step", "relief"))]
    (tmp_path / "settings.toml").write_text("\n".join(kept))
    old = slanted.Result.load(tmp_path)
    assert old.energy == result.energy
    assert (old.settings.model.strip_step, old.settings.model.relief) == (0, 0)
    np.testing.assert_array_equal(old.disparity, result.disparity)
    again = reestimate(old, scene.left, scene.right, slanted.Settings())
    assert again.finer == 1


@pytest.mark.parametrize("guided", ["true", "false"])
def test_a_tiled_pair_is_matched_as_its_noise_demands(scene, monkeypatch, guided):
    from slanted.tiles import bands

    seen = []

    def spy(left, right, matching, *others, **options):
        seen.append(matching.census.smoothing)
        return match(left, right, matching, *others, **options)

    match = bands.match_census
    monkeypatch.setattr(bands, "match_census", spy)
    rng = np.random.default_rng(0)
    noisy = [np.uint8(np.clip(each + rng.normal(0, 8, each.shape), 0, 255))
             for each in (scene.left, scene.right)]  # fmt: skip
    rules = {"tiles.above": "20000", "matching.census.guided": guided}
    slanted.estimate(*noisy, slanted.Settings().with_text(rules))
    assert seen[0] > 0.5


def test_the_energy_of_a_small_image_is_above_its_bound_also_from_disk(scene, tmp_path):
    result = slanted.estimate(scene.left, scene.right)
    assert result.model != result.settings.model
    assert result.bound <= result.energy == pytest.approx(result.inference.iterations[-1].energy)
    result.save(tmp_path)
    assert slanted.Result.load(tmp_path).energy == result.energy
    given = slanted.estimate(scene.left, scene.right, disparity=scene.disparity)
    assert given.model == given.settings.model
    assert given.bound <= given.energy


def test_progress_is_called_and_nothing_is_printed(scene, capfd):
    stages = []
    result = slanted.estimate(scene.left, scene.right, progress=stages.append)
    assert stages == STAGES
    assert list(result.seconds) == list(dict.fromkeys(STAGES))
    assert capfd.readouterr() == ("", "")


def test_the_same_bytes_with_one_and_two_threads_and_in_another_process(scene, tmp_path):
    found = [slanted.estimate(scene.left, scene.right, slanted.Settings(threads=n)) for n in (1, 2)]
    for name in ("disparity", "planes", "labels", "matched", "confidence", "deviation"):
        assert getattr(found[0], name).tobytes() == getattr(found[1], name).tobytes()
    assert found[0].bound == found[1].bound
    assert found[0].regions.count > 2 * SMALLEST_BLOCK  # swept by several threads at all
    maps = {found[0].disparity.tobytes()}
    np.savez(tmp_path / "pair.npz", left=scene.left, right=scene.right)
    code = (
        "import sys, numpy, slanted\n"
        f"pair = numpy.load({str(tmp_path / 'pair.npz')!r})\n"
        "sys.stdout.buffer.write(slanted.estimate(pair['left'], pair['right']).disparity.tobytes())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout in maps


def test_images_without_a_match_are_refused_in_words():
    flat = np.full((50, 60), 80, np.uint8)
    with pytest.raises(InputError, match="left, right: no pixel could be matched"):
        slanted.estimate(np.eye(50, 60, dtype=np.uint8) * 200, flat)


def test_images_smaller_than_a_speckle_are_refused_as_such(scene):
    tiny = scene.left[:10, :10], scene.right[:10, :10]
    with pytest.raises(
        InputError, match=r"patches of up to 100 px, and images of 10×10 pixels have no larger"
    ):
        slanted.estimate(*tiny, preset="fast", max_disparity=8)
    with pytest.warns(slanted.SlantedWarning, match="of the pixels pass the checks of matching"):
        kept = slanted.estimate(*tiny, {"matching.speckle_size": 0}, preset="fast", max_disparity=8)
    assert np.isfinite(kept.matched).any()
    noise = np.random.default_rng(1).integers(0, 256, (2, 15, 15), np.uint8)
    with pytest.raises(InputError, match="matched; check that no image is all black or white"):
        slanted.estimate(*noise, preset="fast", max_disparity=8)


def test_a_given_disparity_replaces_the_matcher(scene):
    result = slanted.estimate(scene.left, scene.right, disparity=scene.disparity)
    np.testing.assert_array_equal(result.matched, scene.disparity)
    with pytest.raises(InputError, match="disparity: expected numbers of shape"):
        slanted.estimate(scene.left, scene.right, disparity=scene.disparity[1:])


def test_given_segments_replace_ours(scene):
    result = slanted.estimate(scene.left, scene.right, segments=scene.segments)
    assert result.regions.count == scene.segments.max() + 1
    assert len(result.regions.edges) == len(scene.edges)
    with pytest.raises(InputError, match="size of the left image"):
        slanted.estimate(scene.left, scene.right, segments=scene.segments[1:])


def test_public_names_are_there_and_stay_functions():
    for name in slanted.__all__:
        assert getattr(slanted, name) is not None
    import_module("slanted.pipeline")
    assert callable(slanted.estimate)
    assert set(slanted.__all__) <= set(dir(slanted))
    with pytest.raises(AttributeError, match="no_such"):
        _ = slanted.no_such


def test_confidence_weighs_pixels_and_is_kept_with_the_result(scene, tmp_path):
    chosen = {
        "segmentation.count": "40",
        "inference.iterations": "1",
        "model.pixel_weights": "true",
    }
    weighed = slanted.estimate(scene.left, scene.right, slanted.Settings().with_text(chosen))
    known = np.isfinite(weighed.matched)
    assert weighed.pixel_weights[known].mean() == pytest.approx(1, rel=1e-5)
    assert weighed.pixel_weights[known].std() > 0.1
    filtered = np.isfinite(match(scene.left, scene.right, weighed.settings.matching))
    added = known & ~filtered
    assert added.sum() > 50
    assert weighed.pixel_weights[added].mean() > 0.1  # what trees add counts, too
    assert not weighed.pixel_weights[~known].any()
    chosen["model.pixel_weights"] = "false"
    plain = slanted.estimate(scene.left, scene.right, slanted.Settings().with_text(chosen))
    assert plain.pixel_weights is None
    assert plain.energy != weighed.energy
    weighed.save(tmp_path / "result")
    assert slanted.Result.load(tmp_path / "result").energy == weighed.energy


@pytest.mark.parametrize("given", [True, False])
def test_confidence_is_refused_where_there_is_none(scene, given):
    settings = slanted.Settings().with_text(
        {"model.pixel_weights": "true", "matching.method": "sgbm"}
    )
    disparity = scene.disparity if given else None
    with pytest.raises(InputError, match=r"model\.pixel_weights: expected a matcher that returns"):
        slanted.estimate(scene.left, scene.right, settings, disparity=disparity)


NO_MODEL = {"confidence.model": "none"}


@pytest.fixture(scope="module")
def quick():
    return slanted.Settings().with_text(
        # `match` has no finer grid for small images and searches the whole range.
        {
            "segmentation.count": "40",
            "inference.iterations": "1",
            "matching.census.finer": "1",
            "matching.census.guided": "false",
        }
    )


def test_without_a_model_matches_are_those_of_the_filters(scene, quick):
    result = slanted.estimate(scene.left, scene.right, quick.with_text(NO_MODEL))
    filtered = match(scene.left, scene.right, quick.matching)
    np.testing.assert_array_equal(result.matched, filtered)
    assert result.confidence is None
    assert result.deviation is None
    judged = slanted.estimate(scene.left, scene.right, quick)
    assert (np.isfinite(judged.matched) != np.isfinite(filtered)).mean() > 0.001
    assert judged.confidence.shape == judged.deviation.shape == filtered.shape


def test_without_the_shipped_trees_all_is_as_without_a_model(scene, quick, monkeypatch, tmp_path):
    expected = slanted.estimate(scene.left, scene.right, quick.with_text(NO_MODEL))
    monkeypatch.setattr("slanted.confidence.weights.SHIPPED", tmp_path / "lost.json")
    with pytest.warns(slanted.SlantedWarning, match="trees of confidence are missing") as said:
        result = slanted.estimate(scene.left, scene.right, quick)
    assert len(said) == 1
    assert "lost.json" in str(said[0].message)
    assert result.confidence is None
    for name in ("disparity", "matched", "planes", "labels"):
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name), err_msg=name)
    stages = []
    with pytest.raises(InputError, match=r"confidence\.min: expected 0"):
        slanted.estimate(
            scene.left,
            scene.right,
            quick.with_text({"confidence.min": "0.5"}),
            progress=stages.append,
        )
    assert stages == []


def test_segments_of_the_user_get_a_confidence(scene, quick):
    result = slanted.estimate(scene.left, scene.right, quick, segments=scene.segments)
    assert result.confidence.shape == scene.disparity.shape
    assert 0 <= result.confidence.min() < result.confidence.max() <= 1
    assert result.deviation.min() > 0


def test_a_disparity_of_the_user_gets_none(scene, quick):
    """Planes explain a dense map perfectly, however wrong it is."""
    with pytest.warns(slanted.SlantedWarning, match="of another pair"):
        result = slanted.estimate(scene.left, scene.right, quick, disparity=scene.disparity + 6)
    assert result.confidence is None
    assert result.deviation is None
    again = reestimate(result, scene.left, scene.right, quick)
    assert again.confidence is None
    with pytest.raises(InputError, match=r"confidence\.min: expected 0.*got 0\.5"):
        slanted.estimate(
            scene.left,
            scene.right,
            quick.with_text({"confidence.min": "0.5"}),
            disparity=scene.disparity,
        )


def test_other_matchers_get_a_confidence_too(scene, quick):
    sgbm = quick.with_text({"matching.method": "sgbm"})
    result = slanted.estimate(scene.left, scene.right, sgbm)
    filtered = match(scene.left, scene.right, sgbm.matching)
    np.testing.assert_array_equal(result.matched, filtered)
    assert result.confidence.max() > 0


def test_a_run_again_has_its_own_confidence(scene, quick):
    result = slanted.estimate(scene.left, scene.right, quick)
    again = reestimate(result, scene.left, scene.right, quick)
    assert again.confidence.shape == result.confidence.shape
    assert np.abs(again.confidence - result.confidence).mean() < 0.05
    assert reestimate(result, scene.left, scene.right, quick.with_text(NO_MODEL)).confidence is None


def test_a_file_of_trees_is_used_in_place_of_the_shipped_ones(scene, quick, tmp_path):
    shipped = Weights.load(SHIPPED)
    surer = replace(shipped, pixels=replace(shipped.pixels, bias=shipped.pixels.bias - 2))
    surer.save(tmp_path / "mine.json")
    planes = quick.with_text({"model.relief": "0"})
    mine = planes.with_text({"confidence.model": str(tmp_path / "mine.json")})
    found = [slanted.estimate(scene.left, scene.right, each) for each in (planes, mine)]
    np.testing.assert_array_equal(found[0].disparity, found[1].disparity)
    assert found[1].confidence.mean() > found[0].confidence.mean()


def test_sure_matches_give_planes_relief(scene, quick):
    flat = quick.with_text({"model.relief": "0"})
    raised, planes = (slanted.estimate(scene.left, scene.right, each) for each in (quick, flat))
    np.testing.assert_array_equal(raised.planes, planes.planes)
    np.testing.assert_array_equal(raised.occluded, planes.occluded)
    away = np.abs(raised.disparity - planes.disparity)
    assert 0 < away.max() <= 2
    assert away[planes.confidence < 0.5].mean() < away[planes.confidence > 0.99].mean()
    sure = np.isfinite(planes.matched) & (planes.confidence > 0.99)
    closer = [np.abs(each.matched - each.disparity)[sure].mean() for each in (raised, planes)]
    assert closer[0] < closer[1]


def test_a_result_folder_has_the_files_of_confidence(scene, quick, tmp_path):
    result = slanted.estimate(scene.left, scene.right, quick)
    result.save(tmp_path / "judged")
    files = {"confidence.npy", "confidence.png", "deviation.npy"}
    assert files <= {file.name for file in (tmp_path / "judged").iterdir()}
    again = slanted.Result.load(tmp_path / "judged")
    np.testing.assert_array_equal(again.confidence, result.confidence)
    np.testing.assert_array_equal(again.deviation, result.deviation)
    slanted.estimate(scene.left, scene.right, quick.with_text(NO_MODEL)).save(tmp_path / "plain")
    assert not files & {file.name for file in (tmp_path / "plain").iterdir()}


def test_iterations_can_be_watched_and_repeated_from_the_matches():
    scene = make_scene(120, 90, segments=40, seed=4)
    settings = slanted.Settings().with_text({"segmentation.count": "40", "seed": "2"})
    seen = []
    result = slanted.estimate(scene.left, scene.right, settings, watch=seen.append)
    steps = [snapshot.iteration for snapshot in seen if snapshot.iteration is not None]
    assert tuple(steps) == result.inference.iterations
    assert seen[0].iteration is None
    np.testing.assert_array_equal(seen[-1].planes, result.planes)
    np.testing.assert_array_equal(seen[-1].labels, result.labels)
    assert seen[-1].regions is result.regions

    cameras = slanted.Calibration(100.0, 100.0, 9.0, 9.0, 0.1)  # far from the centre, said once
    with pytest.warns(slanted.SlantedWarning, match="principal point"):
        result = result.calibrated(cameras)
    again = reestimate(result, scene.left, scene.right, settings)
    assert again.calibration is cameras
    np.testing.assert_array_equal(again.left, scene.left)
    repeated = reestimate(again, scene.left, scene.right, settings)
    np.testing.assert_array_equal(repeated.planes, again.planes)
    np.testing.assert_array_equal(repeated.disparity, again.disparity)
    coarse = settings.with_text({"segmentation.count": "12"})
    other = reestimate(result, scene.left, scene.right, coarse)
    assert other.regions.count < result.regions.count
    np.testing.assert_array_equal(other.matched, result.matched)


def test_without_trees_a_run_again_gives_the_same():
    scene = make_scene(120, 90, segments=40, seed=4)
    settings = slanted.Settings().with_text({"segmentation.count": "40"} | NO_MODEL)
    result = slanted.estimate(scene.left, scene.right, settings)
    again = reestimate(result, scene.left, scene.right, settings)
    np.testing.assert_array_equal(again.planes, result.planes)
    np.testing.assert_array_equal(again.disparity, result.disparity)


def test_what_a_watcher_raises_ends_the_run():
    scene = make_scene(120, 90, segments=40, seed=4)

    def stop(snapshot):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        slanted.estimate(scene.left, scene.right, watch=stop)
