"""What runs elsewhere, GitHub's workflows and the Dockerfile, calls what is there and what we test."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import slanted
from slanted.cli import COMMANDS

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
pytestmark = pytest.mark.skipif(not GITHUB.is_dir(), reason="workflows are not shipped")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
SYSTEM = ("grep", "mkdir", "chmod", "sudo")


def jobs(file):
    return yaml.safe_load(file.read_text("utf-8"))["jobs"]


def steps(file):
    return [step for job in jobs(file).values() for step in job["steps"]]


def scripts(file):
    return [step["run"] for step in steps(file) if "run" in step]


def instructions():
    """The Dockerfile's instructions, in order."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]


def wrong_in(script):
    """Return the commands of a script that name something that is not there."""
    commands = [shlex.split(part) for line in script.splitlines() for part in line.split("&&")]
    return [words for words in commands if not is_there(*words)]


def is_there(program, *arguments):
    name = Path(program).name.removesuffix("3")
    if program.startswith(".ci/"):
        return os.access(ROOT / program, os.X_OK)
    return name in SYSTEM or (name in CHECKS and CHECKS[name](*arguments))


def python_finds(first, *others):
    if first == "-m":
        return others[0] in ("pytest", "venv") or is_there(*others)
    return (ROOT / first).is_file()


def pip_finds(*arguments):
    asked = [each for word in arguments for each in re.findall(r"^\.\[(.+)\]$", word)]
    extras = {extra for each in asked for extra in each.split(",")}
    return bool(extras) and extras <= set(PROJECT["optional-dependencies"])


CHECKS = {
    "python": python_finds,
    "pip": pip_finds,
    "slanted": lambda command, *_: command in COMMANDS,
    "docker": lambda *arguments: (ROOT / "Dockerfile").is_file() and "slanted" in arguments,
    "sphinx-build": lambda *arguments: (ROOT / arguments[-2] / "conf.py").is_file(),
}
"""Whether what a program is asked for is there."""


def test_all_three_are_there():
    assert [file.stem for file in WORKFLOWS] == ["docs", "release", "test"]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_call_what_is_there(file):
    assert scripts(file)
    for script in scripts(file):
        assert not wrong_in(script)
        assert "${{" not in script  # whoever names a branch would write the script


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_are_safe_and_end(file):
    assert yaml.safe_load(file.read_text("utf-8"))["permissions"] == {"contents": "read"}
    for job in jobs(file).values():
        assert "timeout-minutes" in job or not any("run" in step for step in job["steps"])
    for step in steps(file):
        if "uses" in step:
            assert re.fullmatch(r"(actions/[\w-]+@v\d+|pypa/[\w-]+@release/v\d)", step["uses"])
        # An unquoted 3.10 would be 3.1.
        assert isinstance(step.get("with", {}).get("python-version", ""), str)


def test_a_command_that_is_not_there_is_noticed():
    for script in (
        ".ci/none",
        "slanted none",
        "python -m pip install '.[none]'",
        "python none.py",
        "none",
        "mkdir a && slanted none",
    ):
        assert wrong_in(script), script


def test_the_readmes_commands_are_tried():
    shown = re.findall(
        r"^python3 -m venv .+$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    demo, tests = shown
    used = scripts(GITHUB / "workflows" / "test.yml")
    assert tests in used
    install = re.search(r"pip install (\S+) && \.venv/bin/(slanted \w+)$", demo)
    assert f"python -m pip install {install[1]}" in used
    assert install[2] in used
    assert ".ci/run" in used


def test_all_versions_of_python_are_tried():
    found = jobs(GITHUB / "workflows" / "test.yml")
    assert found["install"]["strategy"]["matrix"]["python"] == PYTHONS
    (first,) = (s["with"]["python-version"] for s in found["all"]["steps"] if "python" in str(s))
    assert [first, *found["tests"]["strategy"]["matrix"]["python"]] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_only_the_tag_of_the_version_is_published():
    release = yaml.safe_load((GITHUB / "workflows" / "release.yml").read_text("utf-8"))
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads "on" as true
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert release["jobs"]["publish"]["needs"] == "build"
    (check,) = (
        script for script in scripts(GITHUB / "workflows" / "release.yml") if "grep" in script
    )
    codes = {
        tag: subprocess.run(
            ["bash", "-e", "-c", check],
            cwd=ROOT,
            env={**os.environ, "GITHUB_REF_NAME": tag},
            check=False,
        ).returncode
        for tag in (f"v{slanted.__version__}", "v99.0.0")
    }
    released = "dev" not in slanted.__version__
    assert codes == {f"v{slanted.__version__}": 0 if released else 1, "v99.0.0": 1}


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_issue_forms_ask(name):
    form = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml").read_text("utf-8"))
    assert form["name"]
    assert form["description"]
    names = [part["id"] for part in form["body"]]
    assert len(set(names)) == len(names) > 1
    assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_the_dockerfile_runs_what_is_there():
    kinds = [kind for kind, _ in instructions()]
    assert kinds[0] == "FROM"
    assert {"COPY", "RUN", "ENTRYPOINT", "CMD"} <= set(kinds)
    for kind, value in instructions():
        if kind == "FROM":
            assert re.fullmatch(r"python:(3\.\d+)-slim", value)[1] in PYTHONS
        elif kind == "RUN":
            assert not wrong_in(value)
    values = dict(instructions())
    assert not wrong_in(shlex.join([*json.loads(values["ENTRYPOINT"]), *json.loads(values["CMD"])]))
    shown = re.findall(r"^# docker run .* slanted (\w+) ", (ROOT / "Dockerfile").read_text(), re.M)
    assert shown
    assert set(shown) <= set(COMMANDS)


def test_what_the_dockerfile_copies_is_enough_to_build(tmp_path):
    kept = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for value in (value for kind, value in instructions() if kind == "COPY"):
        *sources, target = value.split()
        for source in sources:
            assert f"!{source}" in kept
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, tmp_path / target, ignore=ignored)
            else:
                shutil.copy(ROOT / source, tmp_path / target)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "dist" / f"slanted-{slanted.__version__}-py3-none-any.whl").is_file()
