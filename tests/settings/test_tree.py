"""The settings tree: ranges, TOML, presets, and values as text."""

import dataclasses
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slanted.errors import FileError, SettingsError
from slanted.research.tuning.search_space import WITHOUT_EFFECT
from slanted.settings import MatchingSettings, Settings, SgbmSettings, leaves, preset_names
from slanted.settings.tree import PRESETS, _by_path


def test_all_presets_load():
    assert preset_names() == ("best", "default", "fast", "network", "paper", "paper+")
    assert len({Settings.preset(name) for name in preset_names()}) == 6
    assert Settings.preset("default") == Settings()
    assert Settings.preset("paper").matching.method == "sgbm"


@pytest.mark.parametrize("name", ["paper", "paper+"])
def test_no_change_of_a_default_moves_the_published_presets(name):
    with (PRESETS / f"{name}.toml").open("rb") as file:
        pinned = dict(_by_path(Settings(), tomllib.load(file)))
    depends = [leaf.path for leaf in leaves(Settings()) if not leaf.path.startswith(WITHOUT_EFFECT)]
    assert list(pinned) == depends


def test_the_variant_of_the_paper_differs_in_its_proposals_alone():
    ours = Settings.preset("paper").with_text({"inference.proposals": "mixture"})
    assert Settings.preset("paper+") == ours


def test_every_setting_is_documented():
    for leaf in leaves(Settings()):
        assert leaf.setting.doc.endswith("."), leaf.path
        assert leaf.section_doc, leaf.path


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["sgbm", "hh", "3way", "hh4"]),
    st.none() | st.integers(1, 8192),
    st.integers(1, 1024),
)
def test_toml_round_trips(seed, mode, max_disparity, speckle_range):
    settings = Settings(
        seed=seed,
        matching=MatchingSettings(
            max_disparity=max_disparity,
            speckle_range=speckle_range,
            sgbm=SgbmSettings(mode=mode),
        ),
    )
    for documented in (False, True):
        text = settings.to_toml(documented=documented)
        assert Settings().updated(tomllib.loads(text)) == settings


def test_a_file_is_laid_over_its_base(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("seed = 7\n[matching.sgbm]\nmode = '3way'\n")
    base = Settings(threads=2)
    loaded = Settings.load(file, base)
    assert (loaded.seed, loaded.threads, loaded.matching.sgbm.mode) == (7, 2, "3way")
    loaded.save(tmp_path / "again.toml")
    assert Settings.load(tmp_path / "again.toml") == loaded


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            {"matchng": {"method": "sgbm"}},
            "matchng: unknown table of settings; did you mean matching?",
        ),
        (
            {"inference": {"weights": {}}},
            "inference.weights: unknown table of settings; did you mean model.weights?",
        ),
        ({"qqq": {"a": 1}}, "qqq: unknown table of settings; expected one of confidence, "),
        ({"threads": {"a": 1}}, "threads: expected a whole number"),
        (
            {"matching": {"count": 5}},
            "matching.count: unknown setting; did you mean segmentation.count?",
        ),
        ({"sead": 1}, "sead: unknown setting; did you mean seed?"),
        (
            {"matching": {"metod": "x"}},
            "matching.metod: unknown setting; did you mean matching.method",
        ),
        ({"matching": 3}, "matching: expected a table"),
        ({"matching": {"method": "magic"}}, "matching.method: expected one of sgbm"),
        ({"matching": {"sgbm": {"block_size": 4}}}, "matching.sgbm.block_size: expected an odd"),
        ({"matching": {"sgbm": {"block_size": 99}}}, "from 1 to 15"),
        ({"seed": 1.5}, "seed: expected a whole number"),
        ({"seed": True}, "seed: expected a whole number"),
        ({"seed": -1}, "seed: expected a whole number"),
        ({"seed": "auto"}, "seed: expected a whole number"),
        ({"threads": 0}, "threads: expected a whole number from 1 to 1024 or auto, got 0"),
        (
            {"rectification": {"warn_offset": float("nan")}},
            "rectification.warn_offset: expected a number",
        ),
        ({"rectification": {"warn_offset": 10**400}}, "rectification.warn_offset: expected a"),
        (
            {"matching": {"left_right_threshold": 10**11}},
            "matching.left_right_threshold: expected a whole number from 0",
        ),
        (
            {"matching": {"min_disparity": 10, "max_disparity": 10}},
            "matching.max_disparity: expected",
        ),
        (
            {"rectification": {"check": "no"}},
            "rectification.check: expected one of refuse, warn, off",
        ),
    ],
)
def test_bad_values_are_refused_by_name(tree, message):
    with pytest.raises(SettingsError) as caught:
        Settings().updated(tree)
    assert message in str(caught.value)
    assert str(caught.value).count("matching.matching") == 0


def test_errors_of_a_file_name_the_file(tmp_path):
    file = tmp_path / "mine.toml"
    with pytest.raises(FileError, match=r"mine\.toml: expected a file"):
        Settings.load(file)
    file.write_text("seed = [")
    with pytest.raises(FileError, match=r"mine\.toml: expected settings in TOML"):
        Settings.load(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match=r"mine\.toml: expected settings in TOML"):
        Settings.load(file)
    file.write_text("seed = -3")
    with pytest.raises(SettingsError, match=r"mine\.toml: seed: expected a whole number"):
        Settings.load(file)


def test_text_values_as_on_the_command_line():
    settings = Settings().with_text({"matching.max_disparity": "96", "threads": "auto"})
    assert settings.matching.max_disparity == 96
    assert settings.threads is None
    for path, text in [
        ("seed", "one"),
        ("threads", ""),
        ("rectification.warn_offset", "inf"),
        ("seed", "1" + "0" * 400),
        ("threads", "9" * 5000),
    ]:
        with pytest.raises(SettingsError, match=path):
            settings.with_text({path: text})
    with pytest.raises(SettingsError, match="matching: unknown setting"):
        settings.with_text({"matching": "3"})


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 3


def test_settings_that_bound_one_another_change_together():
    values = {"matching.max_disparity": "-4", "matching.min_disparity": "-64"}
    changed = Settings().with_text(values).matching
    assert (changed.min_disparity, changed.max_disparity) == (-64, -4)
