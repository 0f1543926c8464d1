"""Tiny pairs in KITTI's layout, and presets that are quick on them."""

import json

import pytest

from research.tuning.pairs import write_kitti
from slanted.evaluation.datasets import find_frames
from slanted.research.experiments.data import Context
from slanted.settings import Settings


@pytest.fixture(scope="session")
def kitti(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kitti")
    write_kitti(folder, count=4)
    names = [frame.name for frame in find_frames("kitti2015", folder)]
    splits = {"validation": names[:3], "train": names[3:]}
    (folder / "split.json").write_text(json.dumps(splits))
    return folder


@pytest.fixture
def context(kitti, tmp_path):
    return Context({"kitti2015": kitti}, tmp_path)


QUICK = {
    "matching.max_disparity": "32",
    "segmentation.count": "40",
    "inference.sweeps": "3",
    "inference.iterations": "1",
    "inference.particles": "3",
    "learning.particles": "3",
    "learning.max_steps": "1",
}


@pytest.fixture
def quick_presets(monkeypatch):
    true_preset = Settings.preset
    monkeypatch.setattr(
        Settings, "preset", classmethod(lambda cls, name: true_preset(name).with_text(QUICK))
    )
