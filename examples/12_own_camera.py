"""From a camera of your own to a mesh: calibrate, rectify, estimate, export. See docs/tutorial.md.

    python examples/12_own_camera.py [FOLDER]

FOLDER has ``board/left_00.png``, ``board/right_00.png`` and so on, both cameras' pictures of a
chessboard with 9 × 6 inner corners and squares of 3 cm, and ``scene_left.png``,
``scene_right.png``. Without it, pictures of virtual cameras are made and used.
"""

import sys
from pathlib import Path

import cv2
import numpy as np

import slanted
from slanted.output.export import Exportable, export

CORNERS = (9, 6)
SQUARE_METERS = 0.03

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "own-camera")
if len(sys.argv) == 1:
    sys.path.insert(0, str(Path(__file__).parent))
    from virtual_cameras import make_pictures

    make_pictures(folder)

# 1. Find the corners of the board. Both cameras must see all of them.
board = np.zeros((CORNERS[0] * CORNERS[1], 3), np.float32)
board[:, :2] = np.mgrid[: CORNERS[0], : CORNERS[1]].T.reshape(-1, 2) * SQUARE_METERS
seen = {"left": [], "right": []}
left_files = sorted((folder / "board").glob("left_*"))
for left_file in left_files:
    files = {"left": left_file, "right": left_file.with_name(f"right_{left_file.name[5:]}")}
    grey = {side: cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) for side, file in files.items()}
    if any(image is None for image in grey.values()):
        print(f"left out: {left_file.name}, which has no right_{left_file.name[5:]} beside it")
        continue
    found = {side: cv2.findChessboardCornersSB(image, CORNERS) for side, image in grey.items()}
    if all(ok for ok, _ in found.values()):
        for side, (_, corners) in found.items():
            seen[side].append(corners)
    else:
        print(f"left out: {left_file.name}, where a camera does not see all corners")
count = len(seen["left"])
if count < 3:
    sys.exit(
        f"{folder / 'board'}: expected pictures left_01.png, right_01.png, … of a board with "
        f"{CORNERS[0]} × {CORNERS[1]} inner corners (CORNERS above), seen by both cameras; it was "
        f"found in {count} of {len(left_files)} pairs"
    )
size = grey["left"].shape[::-1]
print(f"the board was found by both cameras in {count} of {len(left_files)} pairs of pictures")

# 2. Calibrate each camera, then their relative pose.
boards = [board] * count
own = {side: cv2.calibrateCamera(boards, points, size, None, None) for side, points in seen.items()}
(rms_left, matrix_left, lens_left, *_), (rms_right, matrix_right, lens_right, *_) = own.values()
rms, *_, R, T, _, _ = cv2.stereoCalibrate(
    boards, seen["left"], seen["right"], matrix_left, lens_left, matrix_right, lens_right, size,
    flags=cv2.CALIB_FIX_INTRINSIC,
)  # fmt: skip
baseline = float(np.linalg.norm(T))
print(f"errors {rms_left:.2f}, {rms_right:.2f} and {rms:.2f} px; baseline {1000 * baseline:.1f} mm")

# 3. Rectify: make the pictures that perfect, parallel cameras in the same place would take.
R1, R2, P1, P2, Q, *_ = cv2.stereoRectify(
    matrix_left, lens_left, matrix_right, lens_right, size, R, T, alpha=0
)
turned = {"left": (matrix_left, lens_left, R1, P1), "right": (matrix_right, lens_right, R2, P2)}
for side, camera in turned.items():
    maps = cv2.initUndistortRectifyMap(*camera, size, cv2.CV_32FC1)
    picture = cv2.imread(str(folder / f"scene_{side}.png"))
    cv2.imwrite(str(folder / f"{side}.png"), cv2.remap(picture, *maps, cv2.INTER_CUBIC))

# Both P in one file, as slanted reads it; lengths are those of the board: metres. With the lenses
# and rotations beside them, `slanted live 0 1 --calib calib.yml` rectifies what the cameras see.
calibration = cv2.FileStorage(str(folder / "calib.yml"), cv2.FILE_STORAGE_WRITE)
for number, camera in enumerate(turned.values(), start=1):
    for name, values in zip("KDRP", camera, strict=True):
        calibration.write(f"{name}{number}", values)
calibration.release()

# 4. Disparity, planes and labels: slanted run left.png right.png --calib calib.yml -o by-hand
pair = folder / "left.png", folder / "right.png"
result = slanted.estimate(*pair, calibration=folder / "calib.yml")
result.save(folder / "result")
offset = result.rectification.vertical_offset if result.rectification else float("nan")
print(f"rows of the rectified pair are {offset:.2f} px off, in the median")

# 5. The mesh: slanted export by-hand
source = Exportable(result, result.left, result.calibration)
for name in ("mesh.glb", "mesh.ply", "cloud.ply"):
    for file, data in export(name, source).items():
        (folder / file).write_bytes(data)
depth = result.depth()
print(f"depths from {np.nanmin(depth):.2f} to {np.nanmax(depth):.2f} m, in the median "
      f"{np.nanmedian(depth):.2f}; the mesh is mesh.glb")  # fmt: skip
