"""The check of the pages of results in CI: stale ones are named, those nobody can repeat fail."""

import runpy
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from slanted.research.experiments import provenance
from slanted.research.experiments.catalogue import MODULES
from slanted.research.experiments.outcome import Outcome
from slanted.research.experiments.report import write_page
from slanted.settings import Settings

ROOT = Path(__file__).parents[3]
CHECK = SimpleNamespace(**runpy.run_path(str(ROOT / ".ci" / "check_pages.py")))
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(root, *arguments):
    who = "-c", "user.name=a", "-c", "user.email=a@b"
    command = ["git", "-C", str(root), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "-q", "-b", "main", "project")
    root = tmp_path / "project"
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def write(root, commit, names=("oracle", "loss"), **changes):
    """Write docs/results.md as the command does."""
    origin = {"commit": commit, "presets": provenance.presets_digest(), **changes}
    known = {name: value for name, value in origin.items() if value is not None}
    outcomes = [Outcome(name, "Shows something.") for name in names]
    write_page(outcomes, known, root / "docs" / "results.md")


RENEW = "renew it with `slanted experiment oracle loss --page docs/results.md`"


@needs_git
def test_a_page_of_an_ancestor_and_of_these_presets_is_good(repository, capsys):
    commit = git(repository, "rev-parse", "--short", "HEAD")
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    write(repository, commit)
    (repository / "docs" / "by-hand.md").write_text("# No page of ours\n")
    assert CHECK.check(repository) == ([], [])
    assert CHECK.main(repository) == 0
    assert capsys.readouterr().out == "pages of results are up to date\n"


@needs_git
def test_a_commit_outside_the_history_is_an_error(repository, capsys):
    git(repository, "checkout", "-q", "-b", "beside")
    git(repository, "commit", "-q", "--allow-empty", "-m", "aside")
    aside = git(repository, "rev-parse", "--short", "HEAD")
    git(repository, "checkout", "-q", "main")
    for commit in (aside, "0123456"):
        write(repository, commit)
        expected = (
            f"docs/results.md is wrong: its commit {commit} is not in the history of this one"
        )
        assert CHECK.check(repository) == ([f"{expected}; {RENEW}"], [])
    assert CHECK.main(repository) == 1
    assert capsys.readouterr().out == f"error: {expected}; {RENEW}\n"


@needs_git
def test_a_shallow_clone_compares_presets_only(repository, tmp_path):
    first = git(repository, "rev-parse", "--short", "HEAD")
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "shallow")
    clone = tmp_path / "shallow"
    write(clone, first)
    assert CHECK.in_history(first, repository) is True
    assert CHECK.in_history(first, clone) is None
    assert CHECK.check(clone) == ([], [])
    write(clone, first, presets="other")
    assert len(CHECK.check(clone)[1]) == 1


@needs_git
def test_an_archive_inside_another_repository_compares_presets_only(repository):
    inside = repository / "unpacked"
    write(inside, "0123456")
    assert CHECK.check(inside) == ([], [])


@pytest.mark.parametrize("commit", [None, "not in a repository"])
def test_a_page_without_a_commit_is_an_error(commit, tmp_path):
    write(tmp_path, commit)
    reason = "it does not name the commit that it is of"
    assert CHECK.check(tmp_path) == ([f"docs/results.md is wrong: {reason}; {RENEW}"], [])


@pytest.mark.parametrize(
    ("commit", "changes", "reason"),
    [
        ("0123456", {"presets": None}, "it does not name the presets that it is of"),
        ("0123456", {"presets": "0a1b"}, "presets have changed since it was written"),
        ("0123456-dirty", {}, "it is of files that differed from its commit 0123456"),
    ],
)
def test_a_stale_page_is_a_warning(commit, changes, reason, tmp_path, capsys):
    write(tmp_path, commit, **changes)
    expected = f"docs/results.md is stale: {reason}; {RENEW}"
    assert CHECK.check(tmp_path) == ([], [expected])
    assert CHECK.main(tmp_path) == 0
    assert capsys.readouterr().out == f"warning: {expected}\n"


def test_all_experiments_have_a_short_name(tmp_path):
    write(tmp_path, None, MODULES)
    ((sentence,), _) = CHECK.check(tmp_path)
    assert sentence.endswith("`slanted experiment all --page docs/results.md`")


def test_a_changed_default_changes_the_digest(monkeypatch):
    before = provenance.presets_digest()
    assert provenance.provenance()["presets"] == before == provenance.presets_digest()
    true_preset = Settings.preset
    for changed in provenance.PRESETS:

        def preset(name, changed=changed):
            found = true_preset(name)
            return found.with_text({"model.kappa": "61"}) if name == changed else found

        monkeypatch.setattr(Settings, "preset", staticmethod(preset))
        assert provenance.presets_digest() != before


def test_the_pages_of_this_repository_can_be_repeated():
    pages = {p.name for p in (ROOT / "docs").glob("*.md") if CHECK.WRITTEN in p.read_text("utf-8")}
    assert pages >= {"results.md", "convergence.md"}
    wrong, _ = CHECK.check(ROOT)
    assert wrong == []
