"""Numbered frames follow one another, by every backend and after a stop."""

import cv2
import numpy as np
import pytest

from batch.results import result_files
from slanted.batch.pairs import find_pairs
from slanted.batch.run import run_batch
from slanted.synthetic import make_video


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    root = tmp_path_factory.mktemp("videos")
    for name, frames in (("one", 3), ("two", 2)):
        for number, frame in enumerate(
            make_video(128, 64, frames=frames, max_disparity=30, seed=1)
        ):
            for side, image in (("left", frame.left), ("right", frame.right)):
                (root / name / side).mkdir(parents=True, exist_ok=True)
                file = root / name / side / f"frame_{number + 8}.png"
                cv2.imwrite(str(file), np.ascontiguousarray(image[..., ::-1]))
    return root


def test_frames_follow_in_order_and_after_a_stop(videos, quick, tmp_path):
    pairs, order = find_pairs(videos), []

    def note(tally, record):
        if record is not None:
            order.append(record["name"])

    run_batch(pairs, tmp_path / "all", quick, workers=1, sequence=True, progress=note)
    frames = [name for name in order if name.startswith("one")]
    assert frames == ["one/frame_8", "one/frame_9", "one/frame_10"]
    whole = result_files(tmp_path / "all")

    def stop(tally, record):
        if tally.done == 2:
            raise KeyboardInterrupt

    output = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        run_batch(pairs, output, quick, workers=1, sequence=True, progress=stop)
    tally = run_batch(pairs, output, quick, workers=2, sequence=True, resume=True)
    assert (tally.done, tally.skipped) == (3, 2)
    assert result_files(output) == whole

    run_batch(pairs, tmp_path / "single", quick, workers=1)
    single = result_files(tmp_path / "single")
    assert single["one/frame_8/result.npz"] == whole["one/frame_8/result.npz"]
    assert single["one/frame_10/result.npz"] != whole["one/frame_10/result.npz"]
    # The same pairs, but not a video: other inputs, so done again.
    tally = run_batch(pairs, output, quick, workers=1, resume=True)
    assert (tally.done, tally.skipped) == (3, 2)


def test_one_video_is_run_by_one_worker_with_all_cores(videos, quick, tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    pairs = [p for p in find_pairs(videos) if p.name.startswith("two")]
    tally = run_batch(pairs, tmp_path / "out", quick, sequence=True)
    assert (tally.done, tally.workers, tally.threads) == (2, 1, 4)


def test_a_frame_after_one_that_failed_starts_anew(videos, quick, tmp_path):
    pairs = [p for p in find_pairs(videos) if p.name.startswith("one")]
    middle = pairs[1]
    pairs[1] = type(middle)(middle.name, middle.left, tmp_path / "missing.png")
    tally = run_batch(pairs, tmp_path / "out", quick, workers=1, sequence=True)
    assert (tally.done, tally.failed) == (2, 1)
