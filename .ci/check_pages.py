"""Check the pages that `slanted experiment --page` wrote, and say which of them are stale.

Such a page names its commit and a digest of the presets. A page is stale, which is a warning, if
the presets have changed since. It is an error if nobody could repeat the page: it names no commit,
or one that is not in the history of this one. Without the history, as in an unpacked archive or a
shallow clone, only the presets are compared.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from slanted.research.experiments.catalogue import MODULES
from slanted.research.experiments.provenance import presets_digest
from slanted.research.experiments.report import WRITTEN

ROOT = Path(__file__).resolve().parents[1]
COMMIT = re.compile(r"^- commit: ([0-9a-f]{7,40})(-dirty)?$", re.MULTILINE)
PRESETS = re.compile(r"^- presets: (\S+)$", re.MULTILINE)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


def check(root: Path) -> tuple[list[str], list[str]]:
    """Return a sentence for each page that is wrong, and one for each that is stale."""
    wrong, stale = [], []
    for page in sorted((root / "docs").glob("*.md")):
        text = page.read_text("utf-8")
        if WRITTEN not in text:
            continue
        name = page.relative_to(root).as_posix()
        renew = f"renew it with `{command_of(text, name)}`"
        if reason := why_wrong(text, root):
            wrong.append(f"{name} is wrong: {reason}; {renew}")
        elif reason := why_stale(text):
            stale.append(f"{name} is stale: {reason}; {renew}")
    return wrong, stale


def why_wrong(text: str, root: Path) -> str:
    """Return why a page cannot be repeated, or nothing."""
    named = COMMIT.search(text)
    if named is None:
        return "it does not name the commit that it is of"
    if in_history(named[1], root) is False:
        return f"its commit {named[1]} is not in the history of this one"
    return ""


def why_stale(text: str) -> str:
    """Return why a page may no longer be true, or nothing."""
    named, presets = COMMIT.search(text), PRESETS.search(text)
    if named is not None and named[2]:
        return f"it is of files that differed from its commit {named[1]}"
    if presets is None:
        return "it does not name the presets that it is of"
    if presets[1] != presets_digest():
        return "presets have changed since it was written"
    return ""


def command_of(text: str, name: str) -> str:
    """Return the command that writes a page, from the experiments that it shows."""
    shown = [title for title in SECTION.findall(text) if title in MODULES]
    experiments = "all" if set(shown) >= set(MODULES) else " ".join(shown)
    return f"slanted experiment {experiments} --page {name}"


def in_history(commit: str, root: Path) -> bool | None:
    """Return whether a commit is an ancestor of the present one; None if that is not known."""
    try:
        top = _git(root, "rev-parse", "--show-toplevel")
    except OSError:  # no git
        return None
    # An unpacked archive may lie inside another repository.
    if top.returncode or Path(top.stdout.strip()).resolve() != root.resolve():
        return None
    if _git(root, "merge-base", "--is-ancestor", commit, "HEAD").returncode == 0:
        return True
    shallow = _git(root, "rev-parse", "--is-shallow-repository").stdout.strip() == "true"
    return None if shallow else False


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )


def main(root: Path = ROOT) -> int:
    """Print what was found; return 1 if a page is wrong."""
    wrong, stale = check(root)
    lines = [*(f"error: {line}" for line in wrong), *(f"warning: {line}" for line in stale)]
    sys.stdout.write("".join(f"{line}\n" for line in lines) or "pages of results are up to date\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
