"""A stream: pairs that follow each other, as a pair of cameras gives them.

Each frame is estimated with what the last one told; a cut is noticed. `offer` drops frames that
come faster than they are wanted, or than the computer is.
"""

import slanted
from slanted.synthetic import make_video

stream = slanted.Stream(preset="fast", max_disparity=64)
for seed in (7, 8):  # two scenes, one after the other
    for number, frame in enumerate(make_video(240, 160, frames=3, max_disparity=50, seed=seed)):
        result = stream(frame.left, frame.right)
        state = stream.state
        how = f"by itself: {state.fresh}" if state.fresh else "from the last one"
        print(f"scene {seed}, frame {number}: confidence {state.confidence:.2f}, {how}")

camera = slanted.Stream(preset="fast", max_disparity=64, rate=5)
for number, frame in enumerate(make_video(240, 160, frames=6, max_disparity=50, seed=7)):
    # The stamp of a frame, in seconds, is the camera's; this one takes 10 frames a second.
    camera.offer(frame.left, frame.right, stamp=number / 10)
print(f"{camera.state.frames} frames were estimated and {camera.state.dropped} dropped")
