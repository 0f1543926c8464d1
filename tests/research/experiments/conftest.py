"""Tiny pairs in KITTI's layout, and presets that are quick on them."""

import pytest

from slanted.research.experiments.data import Context
from slanted.settings import Settings


@pytest.fixture(scope="session")
def kitti(small_kitti):
    return small_kitti(validation=3, train=1)


@pytest.fixture
def context(kitti, tmp_path):
    return Context({"kitti2015": kitti}, tmp_path)


QUICK = {
    "matching.max_disparity": "64",
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
