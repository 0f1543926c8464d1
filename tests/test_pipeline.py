"""The pipeline as a library: results, checks, determinism, no printing."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import slanted
from slanted.errors import InputError
from slanted.evaluation.metrics import evaluate
from slanted.pipeline import reestimate
from slanted.solver.topology import SMALLEST_BLOCK
from slanted.synthetic import make_scene

STAGES = [
    *("first look", "matching", "segmentation", "evidence", "regions", "inference"),
    *("refinement", "regions", "inference", "drawing"),
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


def test_progress_is_called_and_nothing_is_printed(scene, capfd):
    stages = []
    result = slanted.estimate(scene.left, scene.right, progress=stages.append)
    assert stages == STAGES
    assert list(result.seconds) == list(dict.fromkeys(STAGES))
    assert capfd.readouterr() == ("", "")


def test_the_same_bytes_with_one_and_two_threads_and_in_another_process(scene, tmp_path):
    found = [slanted.estimate(scene.left, scene.right, slanted.Settings(threads=n)) for n in (1, 2)]
    for name in ("disparity", "planes", "labels", "matched"):
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


def test_an_object_for_those_used_to_opencv(scene):
    settings = slanted.Settings(seed=3)
    found = slanted.Matcher(settings).compute(scene.left, scene.right)
    assert found.settings == settings
    expected = slanted.estimate(scene.left, scene.right, settings)
    np.testing.assert_array_equal(found.disparity, expected.disparity)


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

    again = reestimate(result, scene.left, scene.right, settings)
    np.testing.assert_array_equal(again.planes, result.planes)
    np.testing.assert_array_equal(again.disparity, result.disparity)
    coarse = settings.with_text({"segmentation.count": "12"})
    other = reestimate(result, scene.left, scene.right, coarse)
    assert other.regions.count < result.regions.count
    np.testing.assert_array_equal(other.matched, result.matched)


def test_what_a_watcher_raises_ends_the_run():
    scene = make_scene(120, 90, segments=40, seed=4)

    def stop(snapshot):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        slanted.estimate(scene.left, scene.right, watch=stop)
