"""Many pairs: found in a folder or a manifest, run one by one, in processes or on Dask; resumable.

`pairs` finds them, `work` is what one worker does with one pair, `records` tells what is done,
`backends` are the workers, `memory` how many of them fit, `run` is the loop.
"""
