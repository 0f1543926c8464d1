"""Many pairs: find them in a folder, run them, and skip what is already done.

On the command line this is `slanted batch pairs -o results` and `--resume`.
"""

import csv
from pathlib import Path

import slanted
from slanted.batch.pairs import find_pairs
from slanted.batch.run import run_batch
from slanted.synthetic import make_scene

# Workers are processes that import this file, so all code is inside a function.


def main() -> None:
    """Make three pairs, and run them twice."""
    for number in range(3):
        scene = make_scene(240, 160, seed=number)
        for side, image in (("left", scene.left), ("right", scene.right)):
            Path("pairs", side).mkdir(parents=True, exist_ok=True)
            slanted.write_image(Path("pairs", side, f"{number:03}.png"), image)

    pairs = find_pairs(Path("pairs"))
    settings = slanted.Settings()
    # With one worker, pairs run in this process; the default is one worker per core.
    first = run_batch(pairs, Path("results"), settings, workers=1, resume=True)
    again = run_batch(pairs, Path("results"), settings, workers=1, resume=True)
    print(f"first: {first.done} done, {first.skipped} skipped, {first.failed} failed")
    print(f"again: {again.done} done, {again.skipped} skipped, {again.failed} failed")

    with Path("results/summary.csv").open() as file:
        for row in csv.DictReader(file):
            print(row["name"], row["status"], "gap", row["gap_percent"], "%")


if __name__ == "__main__":
    main()
