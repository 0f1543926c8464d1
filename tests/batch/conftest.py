"""Tiny pairs, and settings that are quick on them."""

import pytest

from slanted.settings import Settings
from slanted.synthetic import make_scene, write_kitti


@pytest.fixture(scope="session")
def kitti(tmp_path_factory):
    scenes = [make_scene(128, 64, seed=seed) for seed in range(4)]
    return write_kitti(tmp_path_factory.mktemp("pairs"), {"train": scenes})


@pytest.fixture(scope="session")
def quick():
    return Settings().with_text({"matching.max_disparity": "32", "inference.particles": "4"})


@pytest.fixture(scope="session")
def manifest(kitti):
    """Twelve pairs made of four."""
    lines = ["left,right,name"]
    for number in range(12):
        file = f"00000{number % 4}_10.png"
        lines.append(f"training/image_2/{file},training/image_3/{file},many/{number:02d}")
    path = kitti / "many.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
