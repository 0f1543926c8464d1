"""Batches: many pairs from a folder or a manifest, run by workers, resumable.

`pairs` finds the pairs, `work` is what a worker does with one of them, `records` keeps what is
done, `memory` estimates how much a pair takes, `run` is the loop, and `report` the page for people.
The workers themselves are in `slanted.runtime.workers`.
"""
