"""Spaces as text, and what they refuse."""

import pytest

from slanted.errors import FileError, SettingsError
from slanted.research.tuning.candidates import draw_candidates
from slanted.research.tuning.search_space import (
    default_space,
    load_space,
    parse_dimension,
    parse_space,
)
from slanted.settings import Settings

SHARES = [k / 1000 for k in range(1000)]


def values(path, text, settings=None):
    dimension = parse_dimension(path, text, settings or Settings())
    return [dimension.at(share) for share in SHARES]


def test_a_range_is_even():
    found = values("model.truncation", "2:6")
    assert found[0] == 2
    assert max(found) <= 6
    assert sum(found) / 1000 == pytest.approx(4, abs=0.01)
    assert found == sorted(found)


def test_a_range_in_the_logarithm_has_its_middle_at_the_geometric_mean():
    found = values("model.truncation", "1:100:log")
    assert found[500] == pytest.approx(10)
    assert (found[0], found[-1]) == (1, pytest.approx(100, rel=0.01))


@pytest.mark.parametrize("scale", ["", ":log"])
def test_whole_numbers_reach_both_ends(scale):
    found = values("inference.particles", f"3:6{scale}")
    assert set(found) == {3, 4, 5, 6}
    assert all(type(value) is int for value in found)
    if not scale:
        assert min(map(found.count, (3, 4, 5, 6))) > 240


def test_lists_take_auto_names_and_numbers():
    assert set(values("segmentation.count", "auto, 800,1200")) == {None, 800, 1200}
    assert set(values("segmentation.method", "slic,slic+ucm")) == {"slic", "slic+ucm"}
    assert set(values("matching.sgbm.block_size", "3,5")) == {3, 5}


def test_relative_ends_are_times_the_current_value_and_stay_allowed():
    dimension = parse_dimension("model.kappa", "x0.5:x2:log", Settings())
    assert (dimension.low, dimension.high) == (30, 120)
    dimension = parse_dimension("inference.mixture_neighbours", "0.1:x4", Settings())
    assert (dimension.low, dimension.high) == (0.1, 1)


BAD = {
    "unknown": ("model.trunkation", "2:6", "did you mean model.truncation?"),
    "inverted": ("model.truncation", "6:2", "low end is below its high end, got 6 and 2"),
    "equal": ("model.truncation", "6:6", "low end is below"),
    "out of bounds": ("inference.mixture_decay", "0.5:1.5", "from 0.0 to 1.0, got 1.5"),
    "not a number": ("model.truncation", "2:six", "expected a number"),
    "infinite": ("model.truncation", "2:inf", "expected a number"),
    "unknown scale": ("model.truncation", "2:6:cube", "expected LOW:HIGH"),
    "four parts": ("model.truncation", "2:6:log:9", "expected LOW:HIGH"),
    "logarithm of zero": ("model.kappa", "0:6:log", "above 0"),
    "one value": ("model.truncation", "3", "one value alone"),
    "range of a name": ("matching.method", "1:2", "expected one of"),
    "range of odd numbers": ("matching.sgbm.block_size", "3:7", "separated by commas"),
    "times auto": ("segmentation.count", "x0.5:x2", "auto, cannot be multiplied"),
    "no factor": ("model.kappa", "xx:x2", "a factor such as x0.5"),
    "threads": ("threads", "1,2", "changes the disparity"),
    "empty item": ("model.kappa", "3,,4", "expected a number"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_ranges_are_named(case):
    path, text, message = BAD[case]
    with pytest.raises(SettingsError) as raised:
        parse_dimension(path, text, Settings())
    assert message in str(raised.value)
    assert str(raised.value).startswith(path)


def test_a_file_says_the_same_as_options(tmp_path):
    file = tmp_path / "space.toml"
    file.write_text('[model]\ntruncation = "2:6:log"\n[segmentation]\ncount = ["auto", 800]\n')
    texts = {"model.truncation": "2:6:log", "segmentation.count": "auto,800"}
    assert load_space(file, Settings()) == parse_space(texts, Settings())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model\n", "fails to parse"),
        ("[model]\ntruncation = 3\n", "model.truncation: expected"),
        ("[model]\nlambda = '1:2'\n", "model.lambda: unknown setting"),
        ("# nothing\n", "at least one setting"),
    ],
)
def test_bad_files_are_named(tmp_path, text, message):
    file = tmp_path / "space.toml"
    file.write_text(text)
    with pytest.raises((FileError, SettingsError), match=message) as raised:
        load_space(file, Settings())
    assert str(raised.value).startswith(str(file))


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_the_space_that_ships_fits_the_presets(preset):
    settings = Settings.preset(preset)
    space = default_space(settings)
    paths = [dimension.path for dimension in space]
    schedule = "sigma_decay" if preset == "paper" else "mixture_decay"
    assert f"inference.{schedule}" in paths
    assert {"model.truncation", "model.kappa", "segmentation.count"} <= set(paths)
    assert sum(path.startswith("model.weights.") for path in paths) == 6
    assert sum(path.startswith("model.lambda_") for path in paths) == 4
    assert ("inference.mixture_decay" in paths) == (preset == "default")
    assert len(draw_candidates(space, settings, 40)) == 40


def test_a_weight_of_zero_stays_out_of_the_space_that_ships():
    settings = Settings().with_text({"model.weights.crs": "0"})
    assert "model.weights.crs" not in {d.path for d in default_space(settings)}
