"""What is published: metadata, the package index's page, and what CI and the Dockerfile do with it."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

import slanted

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]


def load(file):
    """Import a script by its path."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hook():
    return load(ROOT / "hatch_build.py")


@pytest.fixture(scope="module")
def page():
    return load(ROOT / ".ci" / "check_package_page.py")


@pytest.mark.parametrize(
    ("written", "published"),
    [
        ("[a](docs/a.md)", "[a](R/blob/v1/docs/a.md)"),
        ("[a](docs/a.md#b), [c](./LICENSE)", "[a](R/blob/v1/docs/a.md#b), [c](R/blob/v1/LICENSE)"),
        ("[a](#b)", "[a](R/blob/v1/README.md#b)"),
        ("![a](docs/a.PNG)", "![a](R/raw/v1/docs/a.PNG)"),
        ("[![a](docs/a.jpg)](docs/a.md)", "[![a](R/raw/v1/docs/a.jpg)](R/blob/v1/docs/a.md)"),
        ('<img src="docs/a.png" width=3>', '<img src="R/raw/v1/docs/a.png" width=3>'),
        ("<a href='docs/a.md'>", "<a href='R/blob/v1/docs/a.md'>"),
        ("[a]: docs/a.md\n", "[a]: R/blob/v1/docs/a.md\n"),
        ("[a](https://b.c/d)", "[a](https://b.c/d)"),
        ("[a](mailto:b@c.d)", "[a](mailto:b@c.d)"),
        ("`[a](b)` [c](d)", "`[a](b)` [c](R/blob/v1/d)"),
        ("```\n[a](b)\n```\n[c](d)", "```\n[a](b)\n```\n[c](R/blob/v1/d)"),
    ],
)
def test_links_are_made_absolute_outside_code(hook, written, published):
    assert hook.with_absolute_links(written, "R", "v1") == published


@pytest.mark.parametrize(("version", "tag"), [("1.2.3", "v1.2.3"), ("1.2.4.dev0", "main")])
def test_the_page_leads_to_the_tag_of_its_version(hook, version, tag):
    metadata = {"version": version, "urls": {"Repository": "https://host/us"}}
    hook.PackagePage(str(ROOT), {}).update(metadata)
    assert metadata["readme"]["content-type"] == "text/markdown"
    assert f"](https://host/us/blob/{tag}/docs/index.md)" in metadata["readme"]["text"]


def test_the_page_check_finds_what_leads_nowhere(page):
    good = [f"{REPOSITORY}/blob/v1/README.md#python", f"{REPOSITORY}/raw/v1/LICENSE", "https://a.b"]
    assert page.problems(good, REPOSITORY, "v1") == []
    bad = ["docs/index.md", f"{REPOSITORY}/blob/v1/no.md", f"{REPOSITORY}/blob/v2/README.md"]
    assert len(page.problems([*good, *bad], REPOSITORY, "v1")) == len(bad)
    assert page.problems([], REPOSITORY, "v1") == ["the page has no links"]


def test_the_changelog_has_the_version_and_its_date():
    newest = re.search(r"^## \[(.+?)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert newest[1] == slanted.__version__.partition(".dev")[0]
    if "dev" not in slanted.__version__:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", newest[2])


def test_urls_are_of_one_place():
    owner, name = REPOSITORY.removeprefix("https://github.com/").split("/")
    places = (REPOSITORY, f"https://{owner}.github.io/{name}")
    assert all(url.startswith(places) for url in PROJECT["urls"].values())


def test_extras_leave_opencv_to_the_user():
    """Only `opencv`, and what makes an environment of its own, may bring one."""
    extras = PROJECT["optional-dependencies"]
    bring = {name for name, needs in extras.items() if "opencv" in " ".join(needs)}
    assert bring == {"opencv", "docs", "test"}
