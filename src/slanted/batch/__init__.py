"""Batches: many pairs from a folder or a manifest, run by workers, resumable.

`pairs` finds the pairs and `calibrations` their calibrations, `work` runs one of them in a worker,
`records` writes what was done, `memory` estimates what a pair takes, and `run` is the loop.
`summary` finds the results again, and `scores` measures them by `ground_truth`. The workers
themselves are in `slanted.runtime.workers`.
"""
