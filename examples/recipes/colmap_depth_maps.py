"""Depth maps as COLMAP keeps them: in stereo/depth_maps of a dense workspace.

python colmap_depth_maps.py [LEFT RIGHT CALIB]
"""

from pathlib import Path

import numpy as np
from pair import estimated


def write_map(path, values):
    """Write an (H, W) or (H, W, C) map: a header "width&height&channels&", then the floats.

    COLMAP's arrays run through the columns of a row first, then the rows, then the channels.
    """
    values = np.atleast_3d(values).astype("<f4")
    height, width, channels = values.shape
    header = f"{width}&{height}&{channels}&".encode()
    Path(path).write_bytes(header + values.transpose(2, 0, 1).tobytes())


def read_map(path):
    """Read a map of COLMAP's as (H, W) or (H, W, C)."""
    *sizes, data = Path(path).read_bytes().split(b"&", 3)
    width, height, channels = map(int, sizes)
    values = np.frombuffer(data, "<f4").reshape(channels, height, width).transpose(1, 2, 0)
    return values[..., 0] if channels == 1 else values


if __name__ == "__main__":
    depth = estimated().depth()
    folder = Path("dense") / "stereo" / "depth_maps"
    folder.mkdir(parents=True, exist_ok=True)
    # Named as the image in images/, and 0 where the depth is not known.
    file = folder / "left.png.geometric.bin"
    write_map(file, np.where(np.isfinite(depth), depth, 0))
    known = np.isfinite(depth).mean()
    print(f"{known:.0%} of {file} is known; the farthest is {read_map(file).max():.1f} m away")
