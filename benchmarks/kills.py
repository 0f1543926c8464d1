"""Kill −9 at random moments: nothing may be lost or mixed, and what is resumed must be the same.

python benchmarks/kills.py [--kills 200] [--commands run batch learn experiment]

Each command works on small made-up data. It is started, killed after a random time up to its usual
duration, and its folder is checked; after four kills in a row it may end, and must leave the same
bytes as a command that was never killed (times aside). ``run`` alternates between two results in
one folder, so that each run replaces another. Half of the kills hit the command alone, half its
workers too. The exit code is 1 if anything was lost, mixed or different.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import options, record, told, write_pair

QUICK = {"matching.max_disparity": 32, "inference.particles": 4, "threads": 1}
LEARN = {
    **{"learning.particles": 6, "learning.max_steps": 8, "learning.max_sweeps": 5},
    **{"segmentation.method": "slic", "segmentation.count": 24, "refinement.rounds": 0},
    **{"inference.iterations": 1, "matching.max_disparity": 32},
    **{"learning.workers": 1, "threads": 1},
}
MINE = "notes.txt"
"""A file of the user's in the folder."""
_DIFFERS = re.compile(r"seconds|time|cpu|created|worker|version", re.IGNORECASE)
"""Names of what differs between two runs."""
Files = dict[str, bytes]


@dataclass(frozen=True)
class Scenario:
    """A command to kill, and what must hold for the files that it writes."""

    arguments: Callable[[Path, Path, int], list[str]]
    """Arguments of slanted, given the folders of data and output and the number of the turn."""
    is_kept: Callable[[str], bool]
    """Which files must be the same in the end, by name."""
    unit: Callable[[str], str]
    """The part of the output that a file belongs to; each part is complete or missing."""
    results: int = 1
    """How many different results take turns in the folder."""


def _sets(values: dict[str, Any]) -> list[str]:
    return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]


def _run(data: Path, output: Path, turn: int) -> list[str]:
    pair = (str(data / "left.png"), str(data / "right.png"))
    camera = ("--fx", "100", "--baseline", "0.1") if turn % 2 else ()
    return ["run", *pair, "-o", str(output), *_sets(QUICK), "--seed", str(turn % 2), *camera]


def _batch(data: Path, output: Path, turn: int) -> list[str]:
    resumed = ("--resume", "--workers", "2")
    return ["batch", str(data / "pairs.csv"), "-o", str(output), *resumed, *_sets(QUICK)]


def _learn(data: Path, output: Path, turn: int) -> list[str]:
    weights = str(output / "weights.toml")
    return ["learn", f"kitti2015:{data / 'kitti'}", "-o", weights, *_sets(LEARN)]


def _experiment(data: Path, output: Path, turn: int) -> list[str]:
    limits = ("--limit", "1", "--workers", "1")
    return ["experiment", "oracle", "--data", f"kitti2015:{data / 'kitti'}", "-o", str(output),
            *limits]  # fmt: skip


def _is_of_a_pair(name: str) -> bool:
    return name.startswith("pair") and not name.endswith("/record.json")


SCENARIOS = {
    "run": Scenario(_run, lambda name: name != MINE, lambda name: "", results=2),
    "batch": Scenario(_batch, _is_of_a_pair, lambda name: name.split("/")[0]),
    "learn": Scenario(_learn, lambda name: name == "weights.toml", lambda name: ""),
    "experiment": Scenario(
        _experiment, lambda name: name.startswith("measurements/"), lambda name: name
    ),
}


def slanted(arguments: list[str]) -> list[str]:
    """Return a command of its own process."""
    return [sys.executable, "-m", "slanted", *arguments, "--quiet"]


def run_whole(scenario: Scenario, data: Path, output: Path, turn: int) -> Files:
    """Return what a command leaves that nobody kills."""
    command = slanted(scenario.arguments(data, output, turn))
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(ended.stderr)
    return files_of(scenario, output)


def files_of(scenario: Scenario, output: Path) -> Files:
    """Return the files that must be the same, without what differs between two runs."""
    found = {}
    for file in sorted(output.rglob("*")):
        name = str(file.relative_to(output))
        hidden = any(part.startswith(".") for part in file.relative_to(output).parts)
        if file.is_file() and not hidden and scenario.is_kept(name):
            found[name] = _without_times(file)
    return found


def _without_times(file: Path) -> bytes:
    content = file.read_bytes()
    if file.suffix == ".json":
        return json.dumps(_same(json.loads(content))).encode()
    if file.suffix == ".toml":
        lines = content.decode().splitlines()
        return "\n".join(line for line in lines if not _DIFFERS.search(line)).encode()
    return content


def _same(content: Any) -> Any:
    if isinstance(content, dict):
        return {k: _same(v) for k, v in content.items() if not _DIFFERS.search(k)}
    return [_same(item) for item in content] if isinstance(content, list) else content


def start_and_kill(command: list[str], after: float, whole_group: bool) -> bool:
    """Start a command and kill it after some seconds; return whether it was still running."""
    null = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=null, stderr=null, start_new_session=True)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        return True
    return False


def problems(scenario: Scenario, output: Path, references: list[Files]) -> list[str]:
    """Return what is wrong with a folder after a kill."""
    from slanted.io.replacement import complete_replacement

    complete_replacement(output)  # as everything does that opens a result
    found = files_of(scenario, output)
    if scenario.results > 1 and not found:
        return ["the earlier result is lost"]
    wrong = []
    for unit in {scenario.unit(name) for name in found}:
        choices = [_of_unit(scenario, files, unit) for files in (found, *references)]
        if choices[0] not in choices[1:]:
            wrong.append(f"{unit or 'the result'} is half-written, mixed or different")
    if output.exists() and (output / MINE).read_text() != "mine":
        wrong.append("the user's file is gone")
    return wrong


def _of_unit(scenario: Scenario, files: Files, unit: str) -> Files:
    return {name: content for name, content in files.items() if scenario.unit(name) == unit}


def kill_often(
    scenario: Scenario, data: Path, folder: Path, kills: int, in_a_row: int, rng: random.Random
) -> dict[str, Any]:
    """Kill a command at random moments, let it end now and then, and compare what it leaves."""
    turns = range(scenario.results)
    references = [run_whole(scenario, data, folder / f"whole{turn}", turn) for turn in turns]
    start = time.monotonic()
    run_whole(scenario, data, folder / "timed", 0)
    usual = time.monotonic() - start
    done, ended, wrong = 0, 0, []
    output = folder / "killed"
    while done < kills:
        output.mkdir(exist_ok=True)
        (output / MINE).write_text("mine")
        if scenario.results > 1 and ended == 0:
            run_whole(scenario, data, output, 1)  # the first to be replaced
        command = slanted(scenario.arguments(data, output, ended))
        for _ in range(in_a_row):
            done += start_and_kill(command, rng.uniform(0, usual), rng.random() < 0.5)
            time.sleep(0.05)  # workers end when they notice that their parent has
            if rng.random() < 0.5:  # else the next run finds what the killed one left
                wrong += problems(scenario, output, references)
        if run_whole(scenario, data, output, ended) != references[ended % scenario.results]:
            wrong.append(f"the command after kill {done} ended with other files")
        wrong += [f"left over: {path.name}" for path in output.rglob(".*")]
        ended += 1
        if scenario.results == 1:
            shutil.rmtree(output)
    return {"kills": done, "ended": ended, "usual_seconds": usual, "wrong": wrong}


def make_data(folder: Path) -> None:
    """Write a pair, a manifest of six and a small KITTI."""
    from slanted.synthetic import make_scene, write_kitti

    scenes = [make_scene(96, 64, seed=seed, segments=40, max_disparity=24.0) for seed in range(3)]
    write_pair(folder, scenes[0])
    write_kitti(folder / "kitti", {"train": scenes[:2], "validation": scenes[2:]})
    lines = [f"left.png,right.png,pair{number}" for number in range(6)]
    (folder / "pairs.csv").write_text("\n".join(["left,right,name", *lines]) + "\n")


def main() -> None:
    """Kill each command, and report what was found."""
    smoke = {"kills": 1, "in_a_row": 1, "commands": ["run"]}
    commands = list(SCENARIOS)
    arguments = options(__doc__, smoke, kills=200, in_a_row=4, commands=commands, seed=0)
    results = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_data(folder)
        for name in arguments.commands:
            rng = random.Random(arguments.seed)
            scenario, place, often = SCENARIOS[name], folder / name, arguments.in_a_row
            results[name] = told(kill_often(scenario, folder, place, arguments.kills, often, rng))
    record("kills", arguments, results)
    sys.exit(any(result["wrong"] for result in results.values()))


if __name__ == "__main__":
    main()
