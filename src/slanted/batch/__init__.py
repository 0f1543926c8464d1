"""Batches: many pairs from a folder or a manifest, run by workers, resumable.

`pairs` finds the pairs, `work` runs one of them in a worker, `records` writes what was done,
`memory` estimates what a pair takes, `run` is the loop, and `report` makes an HTML page. The
workers themselves are in `slanted.runtime.workers`.
"""
