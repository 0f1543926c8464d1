"""Every experiment, from end to end, on tiny pairs."""

import json
import re
import shutil
from dataclasses import replace

import cv2
import numpy as np
import pytest

from slanted.cli import main
from slanted.errors import InputError
from slanted.research.experiments import comparisons, paper
from slanted.research.experiments.catalogue import MODULES, run_experiment
from slanted.research.experiments.data import KITTI, METRICS, VALIDATION, Context
from slanted.research.experiments.learning import HAND_SET
from slanted.research.experiments.model import entropy, mean_distance
from slanted.settings import Settings

pytestmark = [
    pytest.mark.usefixtures("quick_presets"),
    # The automatic range is too small for pairs as tiny as these, and a warning says so.
    pytest.mark.filterwarnings("ignore:the result is doubtful"),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("experiments")


@pytest.mark.parametrize("name", [n for n in MODULES if n not in ("noise", "segmentation")])
def test_every_experiment_gives_figures(name, context, shared):
    limited = replace(context, limit=1, folder=shared)
    outcome = run_experiment(name, limited)
    assert outcome.name == name
    assert outcome.shows.endswith(".")
    shown = *outcome.tables, *outcome.charts, *outcome.pictures
    assert any(key.startswith("kitti2015") for key in shown) or name == "convergence"
    for table in outcome.tables.values():
        for row in table.rows:
            assert len(row.cells) == len(table.columns)
            if not row.quoted:
                assert None not in row.cells
    assert all(sentence.startswith(("middlebury", "ELAS")) for sentence in outcome.missing), (
        outcome.missing
    )
    unknown = {"training-size", "colour-statistics"}  # one size, and too few kinds of boundaries
    for finding in outcome.findings:
        assert (finding.holds is None) == ("missing" in finding.evidence) or name in unknown
    assert outcome.charts or outcome.pictures


def test_learned_weights_are_measured(context):
    outcome = run_experiment("training-size", replace(context, limit=1))
    table, weights = outcome.tables[VALIDATION.key], outcome.tables["weights"]
    # One training frame is all there is, so sizes 5 and 10 are not shown as if there were more.
    names = [row.name for row in table.rows]
    assert names[:4] == ["all weights 1", "weights set by hand", "1", "1, in the paper"]
    assert names[4:] == [f"{n}, in the paper" for n in (5, 10, 20)]
    assert weights.cell("1", "evaluations") >= 1
    assert weights.cell("1", "seg") == pytest.approx(1)
    assert not list((context.folder / "checkpoints").glob("*/*"))


@pytest.mark.parametrize("name", ["training-size", "epsilon", "loss"])
def test_without_training_frames_nothing_is_learned_and_it_is_said(name, kitti, context, tmp_path):
    without = tmp_path / "without"
    shutil.copytree(kitti, without)
    splits = json.loads((without / "split.json").read_text())
    (without / "split.json").write_text(json.dumps({"validation": splits["validation"]}))
    outcome = run_experiment(name, replace(context, data={KITTI: without}))
    assert outcome.tables == {}
    assert '"train"' in outcome.missing[0]
    assert [finding.holds for finding in outcome.findings] == [None]


def test_both_forms_of_the_published_system_are_compared(context, shared):
    limited = replace(context, limit=1, folder=shared)
    outcome = run_experiment("comparison", limited)
    (table,) = outcome.tables.values()
    names = [row.name for row in table.rows if not row.quoted]
    assert names[:5] == [
        "slanted, preset default",
        "slanted, preset paper+",
        "slanted, preset paper",
        "initial fit, pooled",
        "initial fit, not pooled",
    ]
    assert {"OpenCV SGBM in colour, filled", "OpenCV SGBM in grey, filled"} < set(names)
    statements = [finding.statement for finding in outcome.findings]
    for preset in ("default", "paper", "paper+"):
        baseline = f"Preset {preset} is ahead of every baseline that was measured."
        assert f"kitti2015: {baseline}" in statements
        assert f"middlebury: {baseline}" in statements
    (oracle,) = run_experiment("oracle", limited).tables.values()
    for metric in METRICS[KITTI]:
        assert oracle.cell("preset paper+", metric) == table.cell("slanted, preset paper+", metric)
        for name in ("initial fit, pooled", "initial fit, not pooled"):
            assert oracle.cell(name, metric) == table.cell(name, metric)


def test_initial_fits_are_those_of_preset_paper():
    paper_plus = comparisons.published("middlebury", "paper+")
    assert paper_plus.segmentation.count == comparisons.published("middlebury").segmentation.count
    pooled, alone = (entry.settings for entry in comparisons.initial_fits(KITTI))
    assert pooled.inference.pooled_fit > 0 == alone.inference.pooled_fit
    assert pooled.inference.iterations == alone.inference.iterations == 0


def test_a_name_that_is_taken_is_refused(context, tmp_path):
    taken = replace(context, results={"OpenCV BM, filled": tmp_path})
    with pytest.raises(InputError, match="a name that no other row has, got 'OpenCV BM, filled'"):
        run_experiment("comparison", taken)


def test_frames_that_cannot_be_shown_are_named(kitti, context, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(kitti, broken)
    (broken / "training" / "image_2" / "000000_10.png").write_bytes(b"no image")
    outcome = run_experiment("examples", replace(context, data={KITTI: broken}))
    assert any("000000_10" in sentence for sentence in outcome.missing)
    assert len(outcome.pictures) == 2


def test_examples_are_pictures_of_the_chosen_frames(context):
    outcome = run_experiment("examples", context)
    assert list(outcome.pictures) == ["kitti2015-best", "kitti2015-median", "kitti2015-worst"]
    errors = [float(re.findall(r"([\d.]+) %", p.caption)[0]) for p in outcome.pictures.values()]
    assert errors == sorted(errors)
    for picture in outcome.pictures.values():
        image = cv2.imdecode(np.frombuffer(picture.content, np.uint8), cv2.IMREAD_COLOR)
        assert image.shape == (128, 256, 3)


def test_colour_statistics_by_hand():
    histogram = np.zeros(20)
    histogram[[0, 10]] = 3, 3
    assert entropy(histogram) == pytest.approx(1)
    assert mean_distance(histogram) == pytest.approx((0.025 + 0.525) / 2)
    assert np.isnan(mean_distance(np.zeros(20)))


def test_noise_learns_weights_and_measures(context, monkeypatch):
    from slanted.research.experiments import noise

    monkeypatch.setattr(noise, "SIGMAS", (0.0, 5.0))
    monkeypatch.setattr(paper, "NOISE", {s: paper.NOISE[s] for s in (0.0, 5.0)})
    outcome = run_experiment("noise", replace(context, limit=1))
    table = outcome.tables["synthetic"]
    assert [row.name for row in table.rows] == ["0", "0, in the paper", "5", "5, in the paper"]
    assert table.cell("0", "RMS of the oracle") < 0.01
    assert table.cell("5", "RMS of local fits") > table.cell("0", "RMS of local fits")
    assert table.cell("0", "wrong with the true planes") < 2
    ahead, as_printed = outcome.findings
    assert ahead.holds is (table.cell("5", "RMS") < table.cell("5", "RMS of local fits"))
    errors = {sigma: table.cell(f"{sigma:g}", "RMS") for sigma in paper.NOISE}
    assert as_printed.holds is all(errors[s] <= rms for s, (rms, _) in paper.NOISE.items())


def test_training_sizes_go_on_with_the_split_train_more(small_kitti, context, monkeypatch):
    from slanted.research.experiments import learning

    monkeypatch.setattr(learning, "SIZES", (1, 3))
    folder = small_kitti(validation=1, train=2, train_more=2)
    asked = []

    class StoppedError(Exception):
        pass

    def measure(self, jobs):
        asked.extend(jobs)
        raise StoppedError

    monkeypatch.setattr(Context, "measure", measure)
    names = [f"00000{k}_10" for k in range(1, 5)]  # frame 0 is the validation's
    for limit, sizes in ((None, [1, 3]), (2, [1, 2])):
        asked.clear()
        with pytest.raises(StoppedError):
            run_experiment("training-size", replace(context, data={KITTI: folder}, limit=limit))
        assert [[f.name for f in job.frames] for job in asked] == [names[:n] for n in sizes]
        assert {job.settings.learning.rounds for job in asked} == {1 if limit else 2}


def test_the_papers_tables_fit():
    for figures in (paper.OURS, paper.SGBM, paper.ELAS, paper.ORACLE, paper.INITIAL_FIT,
                    paper.OURS_BESIDE_ORACLE, paper.BLOCK_MATCHING):  # fmt: skip
        for dataset, row in figures.items():
            assert len(row) == len(METRICS[dataset])
            assert list(row[::2]) == sorted(row[::2], reverse=True)
    for dataset, rows in paper.SEGMENTATION.items():
        assert all(len(row) == len(METRICS[dataset]) for _, row in rows.values())
    for rows in (paper.TRAINING_SIZE, paper.EPSILON, paper.LOSS):
        assert all(len(row) == len(METRICS[KITTI]) for row in rows.values())


def test_every_part_that_is_switched_off_is_on_in_the_preset(monkeypatch):
    monkeypatch.undo()
    default = Settings()
    for changes in (*comparisons.OFF.values(), *comparisons.MORE.values()):
        for path, text in changes.items():
            assert default.with_text({path: text}) != default


def test_the_command_writes_report_and_page(kitti, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = ["--data", f"kitti2015:{kitti}", "--limit", "1", "--workers", "1"]
    with pytest.raises(SystemExit) as ended:
        main(["experiment", "particles", *arguments, "--page", "docs/results.md", "--json"])
    assert not ended.value.code
    written = json.loads(capsys.readouterr().out)["written"]
    assert "slanted-experiments/report.html" in written
    assert all((tmp_path / file).is_file() for file in written)
    page = (tmp_path / "docs" / "results.md").read_text()
    assert "- commit: " in page
    assert "at most 1" in page
    assert (tmp_path / "docs" / "results" / "particles-kitti2015-validation.svg").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--data: expected DATASET:PATH"),
        (["--data", "kitti2015"], "--data: expected DATASET:PATH"),
        (["--data", "moon:here"], "--data: expected DATASET:PATH"),
        (["--data", "kitti2012:here"], "--data: expected DATASET:PATH"),
        (["--data", "kitti2015:here", "--results", "a:.", "--results", "a:."], "name of its own"),
        (["--data", "kitti2015:here", "--results", "mine"], "--results: expected a name"),
        (["--data", "kitti2015:here", "--results", "mine:gone"], "expected a folder after mine:"),
    ],
)
def test_the_command_says_what_it_wants(options, words, monkeypatch, capsys):
    monkeypatch.delenv("SLANTED_DATA", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["experiment", "particles", *options])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_learning_starts_at_the_weights_of_the_preset():
    weights = Settings.preset("paper").model.weights
    assert {name: getattr(weights, name) for name in HAND_SET} == HAND_SET
