"""Under which terms the known datasets are published, for files that are made from them."""

from __future__ import annotations

_MIDDLEBURY = "Middlebury: no named licence; its authors permit use and publication, with citation"
LICENCES = {
    "kitti2012": "KITTI 2012: CC BY-NC-SA 3.0",
    "kitti2015": "KITTI 2015: CC BY-NC-SA 3.0",
    **dict.fromkeys(
        (
            *("middlebury", "middlebury2001", "middlebury2003", "middlebury2005"),
            *("middlebury2006", "middlebury2014"),
        ),
        _MIDDLEBURY,
    ),
}
"""The terms of each dataset that `find_frames` knows. They name it, because users' own frames may
have its layout."""
