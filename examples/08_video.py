"""A video whose frames are estimated as single pairs, with planes of the last one as proposals.

15_stream.py does the same more quickly.
"""

import slanted
from slanted.evaluation.metrics import evaluate
from slanted.synthetic import make_video

before = None
for number, frame in enumerate(make_video(240, 160, frames=4, seed=7)):
    alone = slanted.estimate(frame.left, frame.right)
    result = slanted.estimate(frame.left, frame.right, previous_frame=before)
    before = result.previous_frame()
    errors = [evaluate(r.disparity, frame.disparity)["out-1px-all"] for r in (alone, result)]
    print(f"frame {number}: {errors[0]:.2f} % off by more than 1 px alone, {errors[1]:.2f} % told")
