"""Pictures of a stereo rig that does not exist, for `12_own_camera.py`.

Two cameras with barrel distortion, not quite parallel, look at a chessboard in a dozen poses and
then at a room. Everything is known exactly, so that a calibration can be checked.

    python examples/virtual_cameras.py FOLDER
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

SIZE = (640, 480)
SQUARES = (10, 7)  # so 9 × 6 inner corners
SQUARE_METERS = 0.03
BASELINE_METERS = 0.12


@dataclass(frozen=True)
class Camera:
    """A pinhole camera with distortion; `rotation` and `position` give its pose in the world."""

    matrix: np.ndarray
    distortion: np.ndarray
    rotation: np.ndarray  # camera from world
    position: np.ndarray  # of the camera, in the world

    def rays(self) -> np.ndarray:
        """Return the direction that each pixel looks in, in the world, (H, W, 3)."""
        pixels = np.stack(np.meshgrid(np.arange(SIZE[0]), np.arange(SIZE[1])), -1).astype(float)
        flat = cv2.undistortPoints(pixels.reshape(-1, 1, 2), self.matrix, self.distortion)
        ahead = cv2.convertPointsToHomogeneous(flat).reshape(SIZE[1], SIZE[0], 3)
        return ahead @ self.rotation  # rows times R: Rᵀ, from camera to world


def _rotation(*degrees: float) -> np.ndarray:
    return cv2.Rodrigues(np.radians(degrees))[0]


LEFT = Camera(
    np.array([[560, 0, 324], [0, 562, 236], [0, 0, 1.0]]),
    np.array([-0.22, 0.08, 0.0006, -0.0004, 0]),
    np.eye(3),
    np.zeros(3),
)
RIGHT = Camera(
    np.array([[566, 0, 315], [0, 567, 244], [0, 0, 1.0]]),
    np.array([-0.21, 0.07, -0.0005, 0.0003, 0]),
    _rotation(-0.8, -1.2, 0.6),
    np.array([BASELINE_METERS, 0.002, -0.003]),
)


@dataclass(frozen=True)
class Rectangle:
    """A flat patch of the world: a corner, and two sides at right angles."""

    corner: np.ndarray
    right: np.ndarray
    down: np.ndarray

    def hit(self, camera: Camera) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each ray's depth, infinite for a miss, and its position on the patch."""
        rays, normal = camera.rays(), np.cross(self.right, self.down)
        along = rays @ normal
        away = (self.corner - camera.position) @ normal / np.where(along == 0, 1e-12, along)
        point = camera.position + away[..., None] * rays - self.corner
        u, v = (point @ side / (side @ side) for side in (self.right, self.down))
        inside = (away > 0) & (u >= 0) & (u <= 1) & (v >= 0) & (v <= 1)
        return np.where(inside, away, np.inf), u, v


def chessboard(camera: Camera, rotation: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return the picture of the board, with a white margin, before a grey wall."""
    columns, rows = SQUARES
    right, down = (SQUARE_METERS * (n + 2) * rotation[:, k] for k, n in enumerate(SQUARES))
    away, u, v = Rectangle(centre - right / 2 - down / 2, right, down).hit(camera)
    x, y = u * (columns + 2) - 1, v * (rows + 2) - 1
    # Edges are a pixel wide, as a lens makes them, which keeps corners exact between pixels.
    sharpness = 560 * SQUARE_METERS / np.where(np.isfinite(away), away, 1)
    waves = [np.clip(np.sin(np.pi * t) * sharpness / np.pi, -1, 1) for t in (x, y)]
    squares = 0.5 + 0.45 * waves[0] * waves[1]
    on_board = (x > 0) & (x < columns) & (y > 0) & (y < rows)
    grey = np.where(np.isfinite(away), np.where(on_board, squares, 0.95), 0.4)
    return np.rint(255 * grey).astype(np.uint8)


def room() -> list[Rectangle]:
    """Return a wall, a floor, a slanted panel and a box."""
    patches = [
        ((-3, -2, 3.0), (6, 0, 0), (0, 3, 0)),  # a wall, 3 m away
        ((-3, 0.5, 0.5), (6, 0, 0), (0, 0, 2.5)),  # the floor, half a metre below
        ((-1.0, -0.6, 2.6), (0.7, 0, -0.9), (0, 1.1, 0)),  # a panel that comes nearer
        ((0.2, -0.1, 1.4), (0.5, 0, 0.1), (0, 0.6, 0)),  # the front of a box
    ]
    return [Rectangle(*(np.array(side, float) for side in patch)) for patch in patches]


def photograph(camera: Camera, seed: int = 0) -> np.ndarray:
    """Return a picture of the room, (H, W, 3); every patch has a texture of its own."""
    rng = np.random.default_rng(seed)
    picture, nearest = np.zeros((SIZE[1], SIZE[0], 3)), np.full((SIZE[1], SIZE[0]), np.inf)
    for patch in room():
        away, u, v = patch.hit(camera)
        # Painted at 4 mm a texel, and smooth enough that both views see the same.
        size = [round(np.linalg.norm(side) / 0.004) for side in (patch.down, patch.right)]
        noise = [cv2.GaussianBlur(rng.normal(0, s, size), (0, 0), s) for s in (1.5, 5, 20)]
        paint = np.sum(noise, axis=0)[..., None] * rng.uniform(70, 110, 3) + rng.uniform(90, 170, 3)
        coordinates = [(t * (n - 1)).astype(np.float32) for t, n in ((u, size[1]), (v, size[0]))]
        colour = cv2.remap(paint, *coordinates, cv2.INTER_LINEAR)
        picture = np.where((away < nearest)[..., None], colour, picture)
        nearest = np.minimum(nearest, away)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def poses(count: int = 12, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return rotations and centres of the board: tilted, all over the picture, near and far."""
    rng = np.random.default_rng(seed)
    places = [(x, y) for y in (-0.5, 0.5) for x in (-1, -0.4, 0.4, 1)] + [(0, 0)] * count
    found = []
    for x, y in places[:count]:
        z = rng.uniform(0.55, 0.8)
        tilt = _rotation(*rng.uniform(-28, 28, 2), rng.uniform(-8, 8))
        found.append((tilt, np.array([0.06 + 0.17 * x, 0.16 * y, z])))
    return found


def make_pictures(folder: Path) -> None:
    """Write ``board/left_00.png`` … and ``scene_left.png``, and the same of the right camera."""
    (folder / "board").mkdir(parents=True, exist_ok=True)
    for side, camera in (("left", LEFT), ("right", RIGHT)):
        for number, (rotation, centre) in enumerate(poses()):
            picture = chessboard(camera, rotation, centre)
            cv2.imwrite(str(folder / "board" / f"{side}_{number:02}.png"), picture)
        scene = photograph(camera)
        cv2.imwrite(str(folder / f"scene_{side}.png"), scene[..., ::-1])


if __name__ == "__main__":
    make_pictures(Path(sys.argv[1]))
