"""The rule of sky, pixel by pixel."""

import numpy as np

from slanted.model.sky import BRIGHT, FAR, NEAR_MATCHES, REDDISH, SMOOTH, WIDE


def naive_sky(image, labels, matched):
    """Return the mask of `find_sky` for an 8-bit colour image."""
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(int)
    height, width = grey.shape
    white = sorted(grey.ravel())[int(np.ceil(0.99 * grey.size)) - 1]
    candidates = set()
    for segment in range(labels.max() + 1):
        pixels = np.argwhere(labels == segment)
        texture = [
            np.ptp(grey[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2]) for y, x in pixels
        ]  # fmt: skip
        red = [int(image[y, x, 0]) - int(image[y, x, 2]) for y, x in pixels]
        near = [matched[y, x] > FAR * width for y, x in pixels]
        if (
            np.mean([grey[y, x] for y, x in pixels]) >= BRIGHT * white
            and np.mean(texture) <= SMOOTH
            and np.mean(red) <= REDDISH
            and np.mean(near) <= NEAR_MATCHES
        ):
            candidates.add(segment)
    sky = np.zeros((height, width), bool)
    seen = np.zeros((height, width), bool)
    for start in np.argwhere(np.isin(labels, sorted(candidates))):
        piece, todo = [], [tuple(start)]
        while todo:
            y, x = todo.pop()
            if not (0 <= y < height and 0 <= x < width) or seen[y, x]:
                continue
            if labels[y, x] not in candidates:
                continue
            seen[y, x] = True
            piece.append((y, x))
            todo += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
        if piece and sum(y == 0 for y, x in piece) >= WIDE * width:
            for y, x in piece:
                sky[y, x] = True
    return sky
