"""Renamed settings: old names still work in files, on the command line and in records."""

import json
import tomllib

import pytest
from click.testing import CliRunner

from slanted.cli import slanted
from slanted.errors import SettingsError, SlantedWarning
from slanted.learning.learn import run_identity
from slanted.research.tuning.candidates import draw_candidates
from slanted.research.tuning.log import TuningLog, search_name
from slanted.research.tuning.search_space import load_space, parse_space
from slanted.settings import Settings, leaves
from slanted.settings.renames import RENAMED

OLD = "model.weights.own"
NEW = "model.weights.user"
SAID = rf"{OLD} is now {NEW}"


def test_the_table_leads_from_no_setting_to_a_setting():
    paths = {leaf.path for leaf in leaves(Settings())}
    assert set(RENAMED.values()) <= paths
    assert not paths & set(RENAMED)
    assert len(set(RENAMED.values())) == len(RENAMED)


@pytest.mark.parametrize("old", RENAMED)
def test_every_old_name_sets_the_new_one(old, tmp_path):
    values = {leaf.path: leaf.value for leaf in leaves(Settings())}
    value = values[RENAMED[old]]
    other = {"joint": "planes"}.get(value) or (not value if value is False else value + 1)
    text = str(other).lower()
    with pytest.warns(SlantedWarning, match=rf"{old} is now {RENAMED[old]};"):
        changed = Settings().with_text({old: text})
    assert changed == Settings().with_text({RENAMED[old]: text}) != Settings()
    file, section = tmp_path / "old.toml", old.rpartition(".")
    file.write_text(f"[{section[0]}]\n{section[2]} = {json.dumps(other)}\n")
    with pytest.warns(SlantedWarning, match=rf"old\.toml: .*{old} is now {RENAMED[old]};"):
        assert Settings.load(file) == changed
    with pytest.warns(SlantedWarning, match=old):
        assert Settings().updated(tomllib.loads(file.read_text())) == changed


def test_all_old_names_of_a_file_are_one_warning(tmp_path):
    file = tmp_path / "old.toml"
    file.write_text(Settings().identity())
    with pytest.warns(SlantedWarning) as said:
        assert Settings.load(file) == Settings()
    assert len(said) == 1
    assert all(f"{old} is now {new}" in str(said[0].message) for old, new in RENAMED.items())


def test_old_and_new_name_at_once_are_refused():
    with pytest.raises(SettingsError, match=f"{OLD}: this is the old name of {NEW}, which is"):
        Settings().with_text({OLD: "2", NEW: "3"})


@pytest.mark.parametrize("arguments", [["--set", f"{OLD}=7"], [f"--{OLD}", "7"]])
def test_the_command_line_takes_old_names(arguments):
    with pytest.warns(SlantedWarning, match=SAID):
        shown = CliRunner().invoke(slanted, ["settings", *arguments])
    assert "\nuser = 7.0\n" in shown.output
    assert OLD not in CliRunner().invoke(slanted, ["run", "--help"]).output


def test_a_rename_disowns_no_record():
    lines = Settings().identity().splitlines()
    assert "own = 1.0" in lines
    assert not any(line.startswith("user =") for line in lines)
    # without fsync, the table of an automatic max_depth, and coarser
    assert len(lines) == len(Settings().to_toml().splitlines()) - 1 - 3 - 1
    assert "coarser = 2" in Settings.preset("fast").identity().splitlines()
    deep = Settings().updated({"space.max_depth": 20.0})
    assert "max_depth = 20.0" in deep.identity().splitlines()
    assert run_identity([], Settings())["settings"] == Settings().identity()


def test_a_search_space_takes_old_names(tmp_path):
    expected = parse_space({NEW: "1:9"}, Settings())
    with pytest.warns(SlantedWarning, match=SAID):
        assert parse_space({OLD: "1:9"}, Settings()) == expected
    file = tmp_path / "space.toml"
    file.write_text('[model.weights]\nown = "1:9"\n')
    with pytest.warns(SlantedWarning, match=rf"space\.toml: .*{SAID}"):
        assert load_space(file, Settings()) == expected


def test_a_search_goes_on_with_a_log_that_has_old_names(tmp_path):
    space = parse_space({NEW: "1:9"}, Settings())
    drawn = draw_candidates(space, Settings(), 2)
    search, file = search_name(Settings(), space, None), tmp_path / "log.csv"
    TuningLog(file, search, space, drawn)
    file.write_text(file.read_text().replace(NEW, OLD))
    with pytest.warns(SlantedWarning, match=rf"log\.csv: .*{SAID}"):
        assert TuningLog(file, search, space, drawn).found == {}
