"""The report holds all it shows, and says what the results say."""

import dataclasses
import re
import weakref
from html.parser import HTMLParser

import numpy as np
import pytest

import slanted
from slanted.cli import main
from slanted.evaluation.confidence import evaluate_confidence
from slanted.evaluation.metrics import evaluate
from slanted.io import write_disparity
from slanted.output.summary_text import gap_text
from slanted.report.results import Entry, build_report
from slanted.result_folder import ResultFolder
from slanted.synthetic import make_scene

SCENE = make_scene(160, 120, seed=3)


@pytest.fixture(scope="module")
def result():
    settings = slanted.Settings().with_text({"segmentation.count": "60", "seed": "4"})
    return slanted.estimate(SCENE.left, SCENE.right, settings)


class Links(HTMLParser):
    """Collects where a page leads, what it needs and where its anchors are."""

    def __init__(self, text):
        super().__init__()
        self.needs, self.inner, self.anchors, self.open = [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.add(found.get("id"))
        self.needs += [found[name] for name in ("src", "data") if name in found]
        if "href" in found:
            self.inner.append(found["href"])
        if tag not in ("img", "meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def entries(result):
    return [
        Entry(
            "<one> & only", ResultFolder("a", result, SCENE.left, None, None, {}), SCENE.disparity
        ),
        Entry("two", ResultFolder("b", result, None, None, None, {})),
    ]


def test_nothing_is_fetched_and_links_lead_somewhere(result):
    page = Links(build_report(entries(result)))
    assert page.open == []
    assert len(page.needs) >= 12
    assert all(need.startswith("data:image/") for need in page.needs)
    assert page.inner
    assert all(link.startswith("#") and link[1:] in page.anchors for link in page.inner)


def test_figures_are_those_of_the_results(result):
    text = build_report(entries(result), "What a title")
    assert "<h1>What a title</h1>" in text
    assert "&lt;one&gt; &amp; only" in text
    assert "<one>" not in text
    errors = evaluate(result.disparity, SCENE.disparity)
    assert f">{errors['out-3px-all']:.2f}</td>" in text
    summary = result.summary()
    assert f"<td>energy</td><td>{summary['energy']:,.0f}, {gap_text(summary)}</td>" in text
    assert (
        text.count("Error against ground truth") == 2
    )  # of one pair: alternative text and caption


def test_a_confidence_is_scored_where_there_is_ground_truth(result):
    unsure = dataclasses.replace(result, confidence=None, deviation=None)
    assert "AUC" not in build_report(entries(unsure))
    error = np.abs(result.disparity - SCENE.disparity)
    sure = dataclasses.replace(result, confidence=1 / (1 + error))
    text = build_report(entries(sure))
    scores = evaluate_confidence(sure.disparity, SCENE.disparity, sure.confidence)
    assert f'data-of="D1@80 %">{scores.metrics["D1@80-all"]:.2f}</td>' in text
    assert f'data-of="AUC">{scores.metrics["AUC-all"]:.4f}</td>' in text
    # of all pairs, and of the one that has ground truth
    assert text.count("<figcaption>Error of the most confident pixels") == 2
    assert "AUC" not in build_report(entries(sure)[1:])


def test_a_report_of_one_pair_has_its_figures_and_no_table(result):
    text = build_report(entries(result)[:1])
    scores = evaluate_confidence(result.disparity, SCENE.disparity, result.confidence).metrics
    found = evaluate(result.disparity, SCENE.disparity) | scores
    for name, rule, unit in (("D1", "D1-all", "%"), ("mean error", "epe-all", "px")):
        assert f"<dt>{name}</dt><dd>{found[rule]:.2f} <small>{unit}</small></dd>" in text
    told = f"&gt;1 px % {found['out-1px-all']:.2f}, &gt;2 px % {found['out-2px-all']:.2f}"
    assert f"<td>errors</td><td>{told}" in text
    assert 'class="many"' not in text
    assert "<nav>" not in text
    titles = re.findall(r'font-size="14"[^>]*>(.*?)<', text)
    assert titles == [
        *("Error against threshold", "Error against density", "Energy by outer iteration"),
    ]


def test_margins_are_not_called_a_confidence(result, tmp_path):
    unsure = dataclasses.replace(result, confidence=None, deviation=None)
    assert "Margins of segments" in build_report(entries(unsure))
    assert "Margins" not in build_report(entries(result))
    for name, each in (("sure", result), ("unsure", unsure)):
        each.save(tmp_path / name)
        names = {file.name for file in (tmp_path / name).iterdir()}
        assert ("confidence_colour.png" in names) == (name == "sure")
        assert ("margins_colour.png" in names) == (name == "unsure")


def test_without_ground_truth_there_are_no_errors(result):
    text = build_report(entries(result)[1:])
    assert "D1 %" not in text
    assert "1 pair," in text


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(list(map(str, arguments)))
    return exited.value.code


def test_the_command(result, tmp_path, capsys):
    for name in ("a/out", "b/out"):
        result.save(tmp_path / name, SCENE.left)
    np.save(tmp_path / "truth.npy", SCENE.disparity)
    folders = [tmp_path / "a/out", tmp_path / "b/out"]
    target = tmp_path / "new" / "report.html"
    assert not run("report", *folders, "-o", target, "--quiet")
    text = target.read_text("utf-8")
    assert all(re.search(f">{folder}</a>", text) for folder in folders)  # told apart by their paths
    truth = ("--ground-truth", tmp_path / "truth.npy")
    assert not run("report", folders[0], *truth, "-o", target, "--json", "--quiet")
    assert ">3 px" in target.read_text("utf-8").replace("&gt;", ">")
    capsys.readouterr()
    for arguments, message in (
        ((*folders, *truth), "--ground-truth: expected one for each of 2 results, got 1"),
        ((tmp_path,), "expected the folder of a result"),
        ((folders[0], "--ground-truth-scale", 4), "means nothing without --ground-truth"),
    ):
        assert run("report", *arguments, "-o", tmp_path / "not.html") == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "not.html").exists()


def test_one_result_is_opened_at_a_time(result):
    alive = []

    def opened(number):
        assert not any(seen() for seen in alive)
        entry = Entry(str(number), ResultFolder("a", result, SCENE.left, None, None, {}))
        alive.append(weakref.ref(entry.opened))
        return entry

    page = build_report(map(opened, range(3)))
    assert all(f'href="#pair-{k}"' in page for k in (1, 2, 3))


def test_any_name_of_a_folder_will_do(result, tmp_path, capsys):
    result.save(tmp_path / "a $x_{ b$ c", SCENE.left)
    write_disparity(tmp_path / "t.pfm", SCENE.disparity - 1000)
    arguments = ["-o", tmp_path / "r.html", "--ground-truth", tmp_path / "t.pfm"]
    assert not run("report", tmp_path / "a $x_{ b$ c", *arguments)
    assert "wrote 1 pair to" in capsys.readouterr().out
    assert "a $x_{ b$ c" in (tmp_path / "r.html").read_text()
