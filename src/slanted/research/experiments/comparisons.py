"""Experiments that run methods or settings on real pairs: the paper's tables and figures of §4."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from slanted.errors import InputError
from slanted.research.experiments import findings, paper
from slanted.research.experiments.jobs.frames import (
    BLOCK_MATCHING,
    ELAS,
    INFERENCE,
    ORACLE,
    SECONDS,
    SEGMENTS,
    STORED,
)
from slanted.research.experiments.plans import (
    KITTI,
    METRICS,
    MIDDLEBURY,
    MIDDLEBURY_TRAINING,
    TEST,
    TRAINING,
    VALIDATION,
    Context,
    Entry,
    Plan,
    run_plan,
)

if TYPE_CHECKING:
    from slanted.research.experiments.outcome import Outcome
    from slanted.settings import Settings


def changed(preset: str, **changes: str) -> Settings:
    """Return a preset with some settings changed; ``a__b`` stands for ``a.b``."""
    from slanted.settings import Settings

    return Settings.preset(preset).with_text({k.replace("__", "."): v for k, v in changes.items()})


def published(dataset: str) -> Settings:
    """Return the preset ``paper``, which is for KITTI, with the paper's number of superpixels."""
    if dataset == KITTI:
        return changed("paper")
    count, _ = paper.SEGMENTATION[dataset]["UCM + SLIC"]
    return changed("paper", segmentation__count=str(round(count)))


def comparison(context: Context) -> Outcome:
    """Make Tables 1 and 2 of the paper: ours beside other methods, and results in folders."""
    ours = changed("default")
    names = {"default": "slanted, preset default", "paper": "slanted, preset paper"}
    peers = [
        Entry("OpenCV SGBM, filled", ours, "sgbm", paper.SGBM),
        Entry("OpenCV BM, filled", ours, BLOCK_MATCHING, paper.BLOCK_MATCHING),
    ]
    absent: tuple[str, ...] = ()
    if find_spec("elas"):
        peers.append(Entry("ELAS, filled", ours, ELAS, paper.ELAS))
    else:
        absent = ("ELAS: not installed; pip install pyelas adds its row",)
    theirs = [Entry(name, ours, f"{STORED}{folder}") for name, folder in context.results.items()]
    entries = {
        part: [
            Entry(names["default"], ours),
            Entry(names["paper"], published(part.dataset), paper=paper.OURS),
            Entry("our census matcher, filled", ours, "census"),
            *peers,
            *theirs,
        ]
        for part in (VALIDATION, TEST)
    }
    plan = Plan(
        "comparison",
        "Both presets beside other methods, whose holes are filled as KITTI does. Preset paper has "
        "about the paper's numbers of superpixels.",
        entries,
        times=(SECONDS,),
        quoted=paper.OTHERS,
    )
    taken = [entry.name for entry in entries[VALIDATION]]
    for name in context.results:
        if taken.count(name) > 1:
            raise InputError(f"--results: expected a name that no other row has, got {name!r}")
    outcome = run_plan(plan, context)
    others = [entry.name for entry in peers]
    found = [
        findings.check(
            f"Preset {preset} is ahead of every baseline that was measured.",
            outcome.tables,
            findings.below_all(names[preset], others),
            part.key,
        )
        for part in (VALIDATION, TEST)
        for preset in ("paper", "default")
    ]
    return replace(outcome, findings=tuple(found), missing=(*outcome.missing, *absent))


def segmentation(context: Context) -> Outcome:
    """Make Tables 3 and 4 of the paper: where segments come from."""
    methods = {"UCM": "ucm", "SLIC, fewer": "slic", "SLIC": "slic", "UCM + SLIC": "slic+ucm"}
    entries: dict[str, list[Entry]] = {KITTI: [], MIDDLEBURY: []}
    for dataset, rows in paper.SEGMENTATION.items():
        for name, (count, figures) in rows.items():
            settings = changed(
                "paper", segmentation__method=methods[name], segmentation__count=str(round(count))
            )
            entries[dataset].append(Entry(name, settings, paper={dataset: (*figures, count)}))
        settings = published(dataset).with_text({"segmentation.method": "slic+disparity"})
        entries[dataset].append(Entry("SLIC + disparity", settings))
    plan = Plan(
        "segmentation",
        "Segments of every kind, as many as in the paper; preset paper otherwise. SLIC + disparity "
        "is what preset default starts from.",
        {VALIDATION: entries[KITTI], TEST: entries[MIDDLEBURY]},
        metrics={dataset: (*metrics, SEGMENTS) for dataset, metrics in METRICS.items()},
    )
    outcome = run_plan(plan, context)
    rule = findings.in_order(["UCM + SLIC", "SLIC", "UCM"])
    statement = "SLIC ∩ UCM beats SLIC, which beats UCM."
    found = [
        findings.check(statement, outcome.tables, rule, part.key) for part in (VALIDATION, TEST)
    ]
    return replace(outcome, findings=tuple(found))


def superpixels(context: Context) -> Outcome:
    """Make the figure "Importance of the number of superpixels": accuracy and time."""
    counts = (200, 400, 800, 1200, 1600, 2000)
    entries = [Entry(f"{n}", changed("paper", segmentation__count=str(n))) for n in counts]
    minutes = ", ".join(f"{m} minutes for {n}" for n, m in paper.MINUTES.items())
    plan = Plan(
        "superpixels",
        "Accuracy and time of the whole run against the number of superpixels; preset paper "
        f"otherwise. The paper prints the time of inference: {minutes}.",
        {VALIDATION: entries},
        rows_are="superpixels asked for",
        metrics={KITTI: (*METRICS[KITTI], SEGMENTS)},
        times=(SECONDS, INFERENCE),
    )
    outcome = run_plan(plan, context)
    statement = "Time is linear in the number of superpixels."
    found = findings.check(statement, outcome.tables, findings.time_is_linear)
    return replace(outcome, findings=(found,))


def resampling(context: Context) -> Outcome:
    """Make the figure "Importance of the number of re-sampling iterations"."""
    shows = (
        "Error against the times that particles are drawn; preset paper otherwise, and once more "
        "with the mixture of proposals of preset default. In the paper two draws take "
        f"{paper.MINUTES_FOR_TWO_DRAWS} minutes instead of {paper.MINUTES[1200]}."
    )
    outcomes, found = [], []
    for proposals in ("paper+incumbent", "mixture"):
        settings = changed("paper", inference__proposals=proposals)
        entries = [
            Entry(f"{n}", settings.with_text({"inference.iterations": str(n)})) for n in range(7)
        ]
        rows_are = f"times that particles are drawn, {proposals}"
        plan = Plan("resampling", shows, {VALIDATION: entries}, rows_are)
        outcomes.append(run_plan(plan, context))
        statement = f"Two resampling iterations nearly suffice (proposals: {proposals})."
        check = findings.check(statement, outcomes[-1].tables, findings.two_draws_suffice)
        found.append(check)
    return replace(joined(*outcomes), findings=tuple(found))


def joined(first: Outcome, second: Outcome) -> Outcome:
    """Return one outcome of the paper's proposals and of the mixture."""
    return replace(
        first,
        tables={**first.tables, **{f"{k}-mixture": t for k, t in second.tables.items()}},
        charts={**first.charts, **{f"{k}-mixture": c for k, c in second.charts.items()}},
        missing=tuple(dict.fromkeys((*first.missing, *second.missing))),
    )


def oracle(context: Context) -> Outcome:
    """Make Tables 6 and 7 of the paper: the best that planes could do, local fits, and ours."""
    ours = changed("default")
    entries = {
        part: [
            Entry("oracle", published(part.dataset), ORACLE, paper.ORACLE),
            Entry(
                "initial fit",
                published(part.dataset).with_text({"inference.iterations": "0"}),
                paper=paper.INITIAL_FIT,
            ),
            Entry("preset paper", published(part.dataset), paper=paper.OURS_BESIDE_ORACLE),
            Entry("oracle, preset default", ours, ORACLE),
            Entry(
                "initial fit, preset default",
                ours.with_text({"inference.iterations": "0", "refinement.rounds": "0"}),
            ),
            Entry("preset default", ours),
        ]
        for part in (VALIDATION, TEST)
    }
    plan = Plan(
        "oracle",
        "Planes fitted to the ground truth, to the matches, and ours. An oracle uses the segments "
        "that its preset ends with; those of preset default have moved with the planes.",
        entries,
    )
    outcome = run_plan(plan, context)
    pairs = (("preset paper", "oracle"), ("preset default", "oracle, preset default"))
    found = [
        findings.check(
            f"The oracle is far below ({mine}).",
            outcome.tables,
            findings.oracle_is_far_below(mine, best),
            part.key,
        )
        for part in (VALIDATION, TEST)
        for mine, best in pairs
    ]
    found += [
        findings.check(
            f"The model is ahead of its initial fit ({mine}).",
            outcome.tables,
            findings.below_all(mine, [fit]),
            part.key,
        )
        for part in (VALIDATION, TEST)
        for mine, fit in (
            ("preset paper", "initial fit"),
            ("preset default", "initial fit, preset default"),
        )
    ]
    return replace(outcome, findings=tuple(found))


def particles(context: Context) -> Outcome:
    """Measure error and time against the number of particles; not in the paper."""
    counts = (2, 5, 10, 15, 20)
    entries = [Entry(f"{n}", changed("default", inference__particles=str(n))) for n in counts]
    plan = Plan(
        "particles",
        "Error and time against the number of particles, preset default.",
        {VALIDATION: entries},
        rows_are="particles of each segment",
        times=(SECONDS, INFERENCE),
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
"""The settings that switch a part off. Without rounds, particles are drawn about as often."""
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
    """Measure what each part of the preset ``default`` is worth; not in the paper."""
    default = changed("default")
    everything = {key: value for changes in OFF.values() for key, value in changes.items()}
    rows = {"default": default}
    rows |= {f"without {name}": default.with_text(changes) for name, changes in OFF.items()}
    rows |= {name: default.with_text(changes) for name, changes in MORE.items()}
    rows[f"all of the first {len(OFF)} off"] = default.with_text(everything)
    for name, changes in OFF.items():
        kept = {key: value for key, value in everything.items() if key not in changes}
        rows[f"only {name}"] = default.with_text(kept)
    entries = [Entry(name, settings) for name, settings in rows.items()]
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
