"""Experiments that compare methods or settings on real pairs (paper §4)."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from slanted.errors import InputError
from slanted.research.experiments import findings, paper
from slanted.research.experiments.data import (
    KITTI,
    METRICS,
    MIDDLEBURY,
    MIDDLEBURY_TRAINING,
    TEST,
    TRAINING,
    VALIDATION,
    Context,
)
from slanted.research.experiments.findings import Claim
from slanted.research.experiments.jobs.frames import (
    BLOCK_MATCHING,
    ELAS,
    ORACLE,
    SECONDS,
    SEGMENTS,
    STORED,
)
from slanted.research.experiments.plans import Entry, Numbers, Plan, run_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slanted.research.experiments.outcome import Outcome
    from slanted.settings import Settings

DATASETS = (VALIDATION, TEST)
POOLED = "initial fit, pooled"
"""The row of the planes that presets ``paper`` and ``paper+`` start from."""


def changed(preset: str, **changes: object) -> Settings:
    """Return a preset with some settings changed; ``a__b`` stands for ``a.b``."""
    from slanted.settings import Settings

    texts = {path.replace("__", "."): str(value) for path, value in changes.items()}
    return Settings.preset(preset).with_text(texts)


def published(dataset: str, preset: str = "paper") -> Settings:
    """Return the preset ``paper`` or ``paper+`` with the paper's number of superpixels."""
    if dataset == KITTI:  # the presets are for KITTI
        return changed(preset)
    count, _ = paper.SEGMENTATION[dataset]["UCM + SLIC"]
    return changed(preset, segmentation__count=round(count))


def comparison(context: Context) -> Outcome:
    """Make Tables 1 and 2 of the paper: ours beside other methods and results in folders."""
    ours, plain = changed("default"), changed("paper")
    names = {preset: f"slanted, preset {preset}" for preset in ("paper", "paper+", "default")}
    colour = plain.with_text({"matching.sgbm.grey": "false"})
    peers = [
        Entry("OpenCV SGBM in colour, filled", colour, "sgbm"),
        Entry("OpenCV SGBM in grey, filled", plain, "sgbm", paper.SGBM),
        Entry("OpenCV BM, filled", ours, BLOCK_MATCHING, paper.BLOCK_MATCHING),
    ]
    if has_elas := find_spec("elas") is not None:
        peers.append(Entry("ELAS, filled", ours, ELAS, paper.ELAS))
    theirs = [Entry(name, ours, f"{STORED}{folder}") for name, folder in context.results.items()]
    entries = {
        part: [
            Entry(names["default"], ours),
            Entry(names["paper+"], published(part.dataset, "paper+")),
            Entry(names["paper"], published(part.dataset), paper=paper.OURS),
            *initial_fits(part.dataset),
            Entry("our census matcher, filled", ours, "census"),
            *peers,
            *theirs,
        ]
        for part in DATASETS
    }
    taken = [entry.name for entry in entries[VALIDATION]]
    for name in context.results:
        if taken.count(name) > 1:
            raise InputError(f"--results: expected a name that no other row has, got {name!r}")
    others = [entry.name for entry in (*initial_fits(KITTI), *peers)]
    plan = Plan(
        "comparison",
        "Three presets beside other methods, whose holes are filled as KITTI does, and beside the "
        "planes that preset paper starts from. Presets paper and paper+ match in grey, and have "
        "about the paper's numbers of superpixels.",
        entries,
        times=(SECONDS,),
        quoted=paper.OTHERS,
        claims=tuple(
            Claim(
                f"Preset {preset} is ahead of every baseline that was measured.",
                findings.below_all(name, others),
                part,
            )
            for part in DATASETS
            for preset, name in names.items()
        ),
    )
    outcome = run_plan(plan, context)
    absent = () if has_elas else ("ELAS: not installed; pip install pyelas adds its row",)
    return replace(outcome, missing=(*outcome.missing, *absent))


def initial_fits(dataset: str, printed: Mapping[str, Numbers] | None = None) -> list[Entry]:
    """Return rows of the planes that preset ``paper`` starts from, and of those without pooling.

    `printed` are the paper's numbers.
    """
    pooled = published(dataset).with_text({"inference.iterations": "0"})
    alone = pooled.with_text({"inference.pooled_fit": "0"})
    return [Entry(POOLED, pooled, paper=printed or {}), Entry("initial fit, not pooled", alone)]


def segmentation(context: Context) -> Outcome:
    """Make Tables 3 and 4 of the paper, which compare segmentation methods."""
    methods = {"UCM": "ucm", "SLIC, fewer": "slic", "SLIC": "slic", "UCM + SLIC": "slic+ucm"}
    entries: dict[str, list[Entry]] = {KITTI: [], MIDDLEBURY: []}
    for dataset, rows in paper.SEGMENTATION.items():
        for name, (count, figures) in rows.items():
            settings = changed(
                "paper", segmentation__method=methods[name], segmentation__count=round(count)
            )
            entries[dataset].append(Entry(name, settings, paper={dataset: (*figures, count)}))
        settings = published(dataset).with_text({"segmentation.method": "slic+disparity"})
        entries[dataset].append(Entry("SLIC + disparity", settings))
    rule = findings.in_order(["UCM + SLIC", "SLIC", "UCM"])
    plan = Plan(
        "segmentation",
        "Segments of every kind, as many as in the paper; preset paper otherwise. SLIC + disparity "
        "is what preset default starts from.",
        {part: entries[part.dataset] for part in DATASETS},
        metrics={dataset: (*metrics, SEGMENTS) for dataset, metrics in METRICS.items()},
        claims=tuple(
            Claim("SLIC ∩ UCM beats SLIC, which beats UCM.", rule, part) for part in DATASETS
        ),
    )
    return run_plan(plan, context)


def resampling(context: Context) -> Outcome:
    """Make the figure "Importance of the number of re-sampling iterations"."""
    shows = (
        "Error against the times that particles are drawn; preset paper otherwise, and once more "
        "with the mixture of proposals of preset default. In the paper two draws take "
        f"{paper.MINUTES_FOR_TWO_DRAWS} minutes instead of {paper.MINUTES[1200]}."
    )

    def draws(proposals: str) -> Outcome:
        settings = {
            n: changed("paper", inference__proposals=proposals, inference__iterations=n)
            for n in range(7)
        }
        plan = Plan(
            "resampling",
            shows,
            {VALIDATION: [Entry(f"{n}", chosen) for n, chosen in settings.items()]},
            f"times that particles are drawn, {proposals}",
            claims=(
                Claim(
                    f"Two resampling iterations nearly suffice (proposals: {proposals}).",
                    findings.two_draws_suffice,
                ),
            ),
        )
        return run_plan(plan, context)

    theirs, ours = draws("paper+incumbent"), draws("mixture")
    return replace(
        theirs,
        tables={**theirs.tables, **{f"{k}-mixture": t for k, t in ours.tables.items()}},
        charts={**theirs.charts, **{f"{k}-mixture": c for k, c in ours.charts.items()}},
        findings=(*theirs.findings, *ours.findings),
        missing=tuple(dict.fromkeys((*theirs.missing, *ours.missing))),
    )


def oracle(context: Context) -> Outcome:
    """Make Tables 6 and 7 of the paper: the oracle's planes, local fits, and ours."""
    ours = changed("default")
    unrefined = {"inference.iterations": "0", "refinement.rounds": "0"}
    entries = {}
    for part in DATASETS:
        theirs = published(part.dataset)
        entries[part] = [
            Entry("oracle", theirs, ORACLE, paper.ORACLE),
            *initial_fits(part.dataset, paper.INITIAL_FIT),
            Entry("preset paper", theirs, paper=paper.OURS_BESIDE_ORACLE),
            Entry("preset paper+", published(part.dataset, "paper+")),
            Entry("oracle, preset default", ours, ORACLE),
            Entry("initial fit, preset default", ours.with_text(unrefined)),
            Entry("preset default", ours),
        ]
    starts = {  # the oracle and the initial fit of each
        "preset paper": ("oracle", POOLED),
        "preset paper+": ("oracle", POOLED),
        "preset default": ("oracle, preset default", "initial fit, preset default"),
    }
    pairs = [(part, mine, *rows) for part in DATASETS for mine, rows in starts.items()]
    far, ahead = "The oracle is far below", "The model is ahead of its initial fit"
    claims = [
        Claim(f"{far} ({mine}).", findings.oracle_is_far_below(mine, best), part)
        for part, mine, best, _ in pairs
    ]
    claims += [
        Claim(f"{ahead} ({mine}).", findings.below_all(mine, [first]), part)
        for part, mine, _, first in pairs
    ]
    plan = Plan(
        "oracle",
        "Planes fitted to the ground truth, to the matches, and ours. An oracle uses the segments "
        "that its preset ends with; those of preset default have moved with the planes.",
        entries,
        claims=tuple(claims),
    )
    return run_plan(plan, context)


OFF: dict[str, dict[str, str]] = {
    "moving boundaries and splits": {"refinement.rounds": "0", "inference.iterations": "2"},
    "photometric potential": {"model.weights.pho": "0"},
    "visibility potential": {"model.weights.vis": "0", "refinement.visibility_weight": "0"},
    "strays out of view dropped": {"matching.out_of_view": "0"},
    "rims that go by how planes look": {"refinement.rim_width": "0"},
    "data weighed by the noise": {"model.reference_noise": "0"},
    "segments that see the disparity": {"segmentation.method": "slic"},
    "joint fit and neighbours as proposals": {"inference.proposals": "paper+incumbent"},
}
"""Settings that switch a part off; without refinement, particles are drawn about as often."""
MORE: dict[str, dict[str, str]] = {
    "no splits": {"refinement.split_size": "0"},
    "no junctions": {"model.weights.jct": "0", "model.weights.crs": "0"},
    "no colour potential": {"model.weights.col": "0"},
    "three rounds": {"refinement.rounds": "3"},
    "four draws before the first round": {"inference.iterations": "4"},
    "matches weighed by confidence": {"model.pixel_weights": "true"},
    "8 paths": {"matching.census.paths": "8"},
}
"""Other changes to the preset."""


def ablation(context: Context) -> Outcome:
    """Measure what each part of the preset ``default`` contributes; not in the paper."""
    everything = {key: value for changes in OFF.values() for key, value in changes.items()}
    rows: dict[str, dict[str, str]] = {"default": {}}
    rows |= {f"without {name}": changes for name, changes in OFF.items()}
    rows |= MORE | {f"all of the first {len(OFF)} off": everything}
    for name, changes in OFF.items():
        rows[f"only {name}"] = {k: value for k, value in everything.items() if k not in changes}
    default = changed("default")
    entries = [Entry(name, default.with_text(changes)) for name, changes in rows.items()]
    plan = Plan(
        "ablation",
        'Each part of preset default switched off, and each alone: "only" rows start from the '
        "same model with all these parts off.",
        dict.fromkeys((TRAINING, VALIDATION, MIDDLEBURY_TRAINING, TEST), entries),
        metrics={
            KITTI: ("out-3px-noc", "out-3px-all", "D1-all"),
            MIDDLEBURY: ("out-2px-noc", "out-2px-all", "out-3px-noc", "out-3px-all"),
        },
    )
    return run_plan(plan, context)
