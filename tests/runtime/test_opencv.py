"""Without OpenCV, or with one that does not work, a sentence says what to type."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import slanted
from slanted.errors import InputError, MissingExtraError
from slanted.runtime import opencv, versions
from slanted.runtime.extras import how_to_install

ROOT = Path(__file__).parents[2]
SOURCES = str(Path(slanted.__file__).resolve().parents[1])
NONE = None
BROKEN = "raise ImportError('libGL.so.1: cannot open shared object file')"
EMPTY = "__version__ = '5.0.0'"
OLD = "__version__ = '4.8.1'"
MISSING = (
    "slanted needs OpenCV (the Python module cv2), which is not installed; run pip install "
    "'slanted[opencv]' (in a clone: pip install '.[opencv]'), or install any one of opencv-python-headless, opencv-python, "
    "opencv-contrib-python-headless, opencv-contrib-python"
)


@pytest.fixture
def python(tmp_path):
    """Run code where `cv2` is a given source or not there, and scikit-image is there or not."""

    def run(cv2, code, *, skimage=True):
        absent = [name for name, there in (("cv2", cv2), ("skimage", skimage)) if not there]
        if cv2:
            (tmp_path / "cv2.py").write_text(cv2)
        start = f"import sys; sys.path[:0] = {[str(tmp_path), SOURCES]!r}\n"
        start += "".join(f"sys.modules[{name!r}] = None\n" for name in absent)
        done = subprocess.run(
            [sys.executable, "-c", start + code],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def command(python):
    def run(cv2, *arguments, **options):
        code = f"from slanted.cli import main\nmain({list(arguments)!r})"
        return python(cv2, code, **options)

    return run


def test_import_and_help_need_no_opencv(python, command):
    assert (
        python(NONE, "import slanted; slanted.estimate, slanted.Settings(), slanted.Result")[0] == 0
    )
    for arguments in (["--help"], ["run", "--help"], ["demo", "--help"], ["settings"]):
        assert command(NONE, *arguments)[0] == 0


@pytest.mark.parametrize("arguments", [["run", "l.png", "r.png"], ["segment", "l.png"], ["demo"]])
def test_commands_say_what_to_install(command, tmp_path, arguments):
    (tmp_path / "l.png").write_bytes(b"")
    code, out, err = command(NONE, *arguments)
    assert (code, out, err) == (2, "", f"slanted: error: {MISSING}\n")
    assert not (tmp_path / "slanted-demo").exists()


def test_functions_say_what_to_install(python):
    code = (
        "import numpy as np, slanted\n"
        "grey = np.zeros((40, 60), np.uint8)\n"
        "for act in (lambda: slanted.estimate(grey, grey), lambda: slanted.read_image('l.png')):\n"
        "    try: act()\n"
        "    except ImportError as error: print(error)\n"
    )
    assert python(NONE, code) == (0, f"{MISSING}\n{MISSING}\n", "")


@pytest.mark.parametrize(("cv2", "extras"), [(NONE, "opencv,demo"), (EMPTY, "demo")])
def test_the_demo_names_all_that_is_missing_at_once(command, cv2, extras):
    code, _, err = command(cv2, "demo", skimage=False)
    assert code == 2
    assert f"which is not installed; {how_to_install(extras)}\n" in err


def test_a_library_that_is_missing_is_named(command):
    code, _, err = command(BROKEN, "run", "l.png", "r.png")
    assert code == 2
    assert "cannot be loaded (libGL.so.1: cannot open shared object file)" in err
    assert "pip install opencv-python-headless" in err
    assert err.count("\n") == 1


def test_an_old_one_is_refused(command):
    code, _, err = command(OLD, "run", "l.png", "r.png")
    assert code == 2
    assert "needs OpenCV 4.9 or later, but version 4.8.1 is installed" in err
    assert f"pip install --upgrade {versions.opencv_package()}" in err


def test_the_bound_is_the_extras():
    """What runs is what pip would have chosen."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (bound,) = extras["optional-dependencies"]["opencv"]
    assert bound.startswith(f"{versions.OPENCV[0]}>={'.'.join(map(str, opencv.OLDEST))}.")
    assert not any("opencv" in each for each in extras["dependencies"])


def test_it_is_an_error_of_input_and_of_import():
    assert issubclass(MissingExtraError, InputError)
    assert issubclass(MissingExtraError, ImportError)


def level():
    return getattr(opencv.cv2.utils, "logging", opencv.cv2).getLogLevel()


def test_the_last_of_the_silenced_blocks_restores_the_level(monkeypatch):
    monkeypatch.delenv(opencv.FFMPEG_LEVEL, raising=False)
    before = level()
    assert before != opencv.SILENT
    first, second = opencv.silenced(), opencv.silenced()
    first.__enter__()
    second.__enter__()
    assert level() == opencv.SILENT
    first.__exit__(None, None, None)  # as in two threads, of which the first ends first
    assert level() == opencv.SILENT
    assert os.environ[opencv.FFMPEG_LEVEL] == opencv.FFMPEG_SILENT
    second.__exit__(None, None, None)
    assert level() == before
    assert opencv.FFMPEG_LEVEL not in os.environ
    with pytest.raises(KeyError), opencv.silenced():
        raise KeyError
    assert level() == before


def test_a_user_who_silenced_ffmpeg_stays_without_its_messages(monkeypatch):
    monkeypatch.setenv(opencv.FFMPEG_LEVEL, opencv.FFMPEG_SILENT)
    with opencv.silenced():
        pass
    assert os.environ[opencv.FFMPEG_LEVEL] == opencv.FFMPEG_SILENT


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_fork_amid_a_silenced_block_is_not_silent_for_good():
    code = """
import os
from slanted.runtime import opencv
log = getattr(opencv.cv2.utils, "logging", opencv.cv2)
before = log.getLogLevel()
with opencv.silenced():
    child = os.fork()
    if not child:
        os._exit(0 if log.getLogLevel() == before else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert log.getLogLevel() == before
"""
    subprocess.run([sys.executable, "-c", code], check=True)
