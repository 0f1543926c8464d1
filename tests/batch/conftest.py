"""Tiny pairs, and settings that are quick on them."""

import pytest

from slanted.settings import Settings


@pytest.fixture(scope="session")
def kitti(small_kitti):
    return small_kitti(train=4)


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
