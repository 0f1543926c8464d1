"""The file of trees."""

import json

import numpy as np
import pytest

from slanted.confidence import weights
from slanted.confidence.features import MATCH_FEATURES, PIXEL_FEATURES
from slanted.confidence.forest import Forest
from slanted.confidence.weights import FORESTS, SHIPPED, Weights, weights_of
from slanted.errors import FileError, InputError, SettingsError, SlantedWarning
from slanted.settings import ConfidenceSettings, Settings


def forest(names, seed=0):
    rng = np.random.default_rng(seed)
    return Forest(
        names,
        float(rng.normal()),
        rng.integers(0, len(names), (4, 3)).astype(np.int32),
        rng.normal(size=(4, 3)).astype(np.float32),
        rng.normal(size=(4, 8)).astype(np.float32),
    )


def made_up():
    trees = {name: forest(features, k) for k, (name, features) in enumerate(FORESTS.items())}
    return Weights(**trees, origin={"data": "made up, ünd ö", "frames": 3})


def test_a_file_keeps_every_bit(tmp_path):
    before, path = made_up(), tmp_path / "trees.json"
    before.save(path)
    after = Weights.load(path)
    assert after.origin == before.origin
    for name, features in FORESTS.items():
        one, other = getattr(before, name), getattr(after, name)
        assert other.names == features
        values = np.random.default_rng(4).normal(size=(len(features), 50)).astype(np.float32)
        assert one.scores(values).tobytes() == other.scores(values).tobytes()
        np.testing.assert_array_equal(one.threshold, other.threshold)
        np.testing.assert_array_equal(one.value, other.value)
    after.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_a_file_has_a_line_for_each_tree(tmp_path):
    made_up().save(tmp_path / "trees.json")
    lines = (tmp_path / "trees.json").read_text("utf-8").splitlines()
    assert sum('"above"' in line for line in lines) == 4 * len(FORESTS)
    assert max(map(len, lines)) < 1000


def changed(content, name, **parts):
    return content | {name: content[name] | parts}


DAMAGES = {
    "no origin": lambda c: {k: v for k, v in c.items() if k != "origin"},
    "an origin that is a number": lambda c: c | {"origin": 3},
    "no pixels": lambda c: {k: v for k, v in c.items() if k != "pixels"},
    "trees that are a list": lambda c: c | {"matches": [1]},
    "no trees": lambda c: changed(c, "matches", trees=[]),
    "features of pixels": lambda c: c | {"matches": c["pixels"]},
    "an unknown feature": lambda c: changed(c, "pixels", trees=[{"above": [["x", 1]], "add": [0]}]),
    "a tree that is a number": lambda c: changed(c, "pixels", trees=[4]),
    "a level that is a text": lambda c: changed(
        c, "deviation", trees=[{"above": [["residual", "high"]], "add": [0, 1]}]
    ),
    "a bias that is not finite": lambda c: changed(c, "deviation", bias=float("nan")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused_in_one_sentence(tmp_path, damage):
    path = tmp_path / "trees.json"
    made_up().save(path)
    path.write_text(json.dumps(DAMAGES[damage](json.loads(path.read_text("utf-8")))), "utf-8")
    with pytest.raises(FileError) as refused:
        Weights.load(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: expected ")
    assert "\n" not in message
    assert message.endswith("learn them again") or "correct it" in message


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\x00", b'{"origin": {}}'])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "trees.json"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"trees\.json"):
        Weights.load(path)
    with pytest.raises(FileError, match=r"none\.json"):
        Weights.load(tmp_path / "none.json")


def test_the_shipped_file_is_one_of_this_version():
    shipped = Weights.load(SHIPPED)
    assert (shipped.matches.names, shipped.pixels.names) == (MATCH_FEATURES, PIXEL_FEATURES)
    for name, features in FORESTS.items():
        trees = getattr(shipped, name)
        assert trees.names == features
        assert set(trees.feature.flat) <= set(range(len(trees.names)))
    assert SHIPPED.stat().st_size < 500_000


def test_settings_name_the_trees(tmp_path):
    made_up().save(tmp_path / "mine.json")
    assert weights_of(ConfidenceSettings(model="none")) is None
    shipped = weights_of(ConfidenceSettings())
    assert shipped is weights_of(ConfidenceSettings())  # read once
    assert shipped.pixels.names == PIXEL_FEATURES
    mine = weights_of(ConfidenceSettings(model=str(tmp_path / "mine.json")))
    assert mine.origin == made_up().origin
    with pytest.raises(FileError, match=r"lost\.json"):
        weights_of(ConfidenceSettings(model=str(tmp_path / "lost.json")))


def test_a_missing_shipped_file_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "SHIPPED", tmp_path / "lost.json")
    with pytest.warns(SlantedWarning, match="trees of confidence are missing") as said:
        assert weights_of(ConfidenceSettings()) is None
    assert len(said) == 1
    assert weights_of(ConfidenceSettings(model="none")) is None  # as wanted: nothing to tell


def test_a_threshold_without_a_confidence_is_refused(tmp_path, monkeypatch):
    with pytest.raises(SettingsError, match=r"^confidence\.min: expected 0, since there is no"):
        Settings().with_text({"confidence.min": "0.5", "confidence.model": "none"})
    assert Settings().with_text({"confidence.min": "0", "confidence.model": "none"})
    monkeypatch.setattr(weights, "SHIPPED", tmp_path / "lost.json")
    with pytest.raises(InputError, match=r"^confidence\.min: expected 0, since .*lost\.json"):
        weights_of(ConfidenceSettings(min=0.5))
