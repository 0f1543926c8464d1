"""Whoever lacks a package is told how to install it, wherever slanted came from."""

import re
from pathlib import Path

import slanted
from slanted.runtime import extras

SOURCES = Path(slanted.__file__).parent


def test_extras_are_named_for_an_index_and_for_a_clone():
    told = extras.how_to_install("opencv,demo")
    assert told == (
        "run pip install 'slanted[opencv,demo]' (in a clone: pip install '.[opencv,demo]')"
    )


def test_one_place_says_how_to_install_extras():
    says_so = [
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if re.search(r"pip install '?slanted\[", path.read_text("utf-8"))
    ]
    assert says_so == ["runtime/extras.py"]
