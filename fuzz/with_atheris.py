"""The same targets under atheris (libFuzzer), where it is installed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

INSTRUMENTED = (
    *("slanted.io", "slanted.settings", "slanted.settings.fields", "slanted.errors"),
    *("slanted.batch", "slanted.output.stored", "slanted.result_folder", "slanted.research.tuning"),
    *("slanted.learning.checkpoint", "slanted.viewer"),
)
"""Parsers; Numba cannot compile kernels that atheris has changed."""


def run(name: str, runs: int, seconds: float, seed: int, artifacts: Path) -> None:
    """Fuzz one target until the limits or the first finding; does not return.

    libFuzzer prints its statistics and the finding to stderr, and keeps the input in `artifacts`.
    """
    import atheris

    with atheris.instrument_imports(include=list(INSTRUMENTED)):
        from fuzz.target import SECONDS, attempt
        from fuzz.targets import TARGETS

        target = TARGETS[name]
        seeds = target.seeds()
        for data in seeds:
            attempt(target, data)
    corpus = Path(tempfile.mkdtemp(prefix="slanted-corpus-"))
    for number, data in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(data)
    words = corpus.with_suffix(".dict")
    short = [token for token in target.tokens if len(token) < 60]
    words.write_text("".join(f'"{_escaped(token)}"\n' for token in short))
    artifacts.mkdir(parents=True, exist_ok=True)
    options = [
        *(f"-runs={runs}", f"-max_total_time={int(seconds)}", f"-seed={seed + 1}"),
        *(f"-timeout={int(4 * SECONDS)}", "-rss_limit_mb=4096", "-max_len=50000"),
        *("-print_final_stats=1", f"-artifact_prefix={artifacts}/{name}-"),
        *([f"-dict={words}"] if short else []),  # it refuses an empty one
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda data: attempt(target, data))
    atheris.Fuzz()


def _escaped(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)
