"""The answers of a live session's server."""

import struct

import cv2
import numpy as np

from live.showing import shown, unpacked, videos
from viewer.client import Client
from viewer.waiting import PATIENCE


def test_an_answer_has_all_of_one_frame(tmp_path):
    session = videos(tmp_path, 2)
    with shown(session) as client:
        assert session.wait(PATIENCE)
        state, parts = unpacked(client.get("/api/live?after=1&points=1000").content)
        assert (state["frames"], state["ended"], state["troubles"]) == (2, True, [])
        assert state["frame"]["number"] == 2
        assert list(parts) == ["image", "disparity", "confidence", "cloud"]
        picture = cv2.imdecode(np.frombuffer(parts["image"], np.uint8), cv2.IMREAD_COLOR)
        assert picture.shape == (96, 160, 3)
        assert abs(picture[..., ::-1].astype(int) - session.newest.result.left).mean() < 12
        (count,) = struct.unpack("<I", parts["cloud"][:4])
        assert 0 < count <= 1000
        assert len(parts["cloud"]) == 4 + 20 * count
        state, parts = unpacked(client.get("/api/live?after=2").content)
        assert (state["frame"], parts) == (None, {})
        assert client.get("/api/live?after=x").status_code == 400
        assert client.get("/assets/nothing.js").status_code == 404
        assert client.get("/live").status_code == 200
        assert Client(client.port, "").get("/api/live").status_code == 403
