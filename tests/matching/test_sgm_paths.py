"""Memory that is used again, never twice at the same time."""

import numpy as np
import pytest

from slanted.matching import sgm_paths
from slanted.matching.sgm_paths import keep_volumes, volume


@pytest.fixture(autouse=True)
def nothing_spare(monkeypatch):
    monkeypatch.setattr(sgm_paths, "_spare", [])


def test_memory_is_used_again_by_smaller_and_replaced_by_larger_volumes():
    with volume((4, 5), np.uint16) as first:
        first[:] = 7
        address = first.ctypes.data
    with volume((3, 2), np.uint16) as second:
        assert second.shape == (3, 2)
        assert second.ctypes.data == address
        assert (second == 7).all()
    with volume((40, 50), np.float32) as third:
        third[:] = 1
    assert [memory.size for memory in sgm_paths._spare] == [8000]


def test_volumes_in_use_share_nothing():
    with volume((9,), np.uint8) as outer:
        outer[:] = 1
        with volume((9,), np.uint8) as inner:
            inner[:] = 2
        assert (outer == 1).all()
    assert len(sgm_paths._spare) == 1


def test_large_volumes_and_those_of_failures_are_given_back(monkeypatch):
    monkeypatch.setattr(sgm_paths, "MOST_KEPT", 10)
    with volume((11,), np.uint8):
        pass
    assert sgm_paths._spare == []
    with pytest.raises(ZeroDivisionError), volume((10,), np.uint8):
        1 / 0  # noqa: B018
    assert len(sgm_paths._spare) == 1


def test_bands_share_a_large_volume_which_is_given_back_after_them(monkeypatch):
    monkeypatch.setattr(sgm_paths, "MOST_KEPT", 10)
    with keep_volumes():
        with keep_volumes(), volume((30,), np.uint8) as first:
            address = first.ctypes.data
        with volume((20,), np.uint8) as second:
            assert second.ctypes.data == address
        assert [memory.size for memory in sgm_paths._spare] == [30]
    assert sgm_paths._spare == []
    with keep_volumes(), volume((8,), np.uint8):
        pass
    assert len(sgm_paths._spare) == 1  # a small one is kept anyway
