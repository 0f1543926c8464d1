"""A short video as a recording of Rerun: image, disparity, confidence, points and mesh by frame.

pip install rerun-sdk; python rerun_stream.py; rerun slanted.rrd
"""

import rerun
import rerun.blueprint as views

import slanted
from slanted.synthetic import make_video

cameras = slanted.Calibration(160.0, 160.0, 95.5, 63.5, baseline_meters=0.2)
stream = slanted.Stream(calibration=cameras, preset="fast")
recording = rerun.RecordingStream("slanted")
recording.save("slanted.rrd")
# Maps of pixels have no place in space, so that the view in space is told what to show.
space = ["stereo/camera", "stereo/points", "stereo/mesh"]
maps = ("camera/left", "disparity", "confidence")
recording.send_blueprint(
    views.Grid(
        views.Spatial3DView(origin="stereo", contents=space, name="space"),
        *(views.Spatial2DView(origin=f"stereo/{name}", name=name) for name in maps),
    )
)
for number, frame in enumerate(make_video(192, 128, frames=4, seed=1)):
    recording.set_time("frame", sequence=number)
    result = stream(frame.left, frame.right)
    result.to_rerun("stereo", recording, min_confidence=0.5)
recording.flush()
recording.disconnect()
print(f"{stream.state.frames} frames are in slanted.rrd")
