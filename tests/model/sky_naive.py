"""The rule of sky, pixel by pixel."""

import numpy as np

from slanted.model import sky as rules


def window(values, y, x, reach):
    """Return the values up to `reach` pixels away, cut off at the image's border."""
    return values[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1]


def each(values, reach, function):
    """Return what a function gives for the window around every pixel."""
    height, width = values.shape[:2]
    found = [[function(window(values, y, x, reach)) for x in range(width)] for y in range(height)]
    return np.array(found)


def highest(values):
    return values.max(axis=(0, 1))


def lowest(values):
    return values.min(axis=(0, 1))


def connected(mask):
    """Return the 4-connected sets of pixels."""
    todo, pieces = {tuple(place) for place in np.argwhere(mask)}, []
    while todo:
        piece, front = set(), [min(todo)]
        while front:
            y, x = front.pop()
            if (y, x) in todo:
                todo.remove((y, x))
                piece.add((y, x))
                front += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
        pieces.append(piece)
    return sorted(pieces, key=len)


def naive_sky(image, matched):
    """Return the mask of `find_sky` for a narrow 8-bit colour image."""
    image = image.astype(int)
    width = matched.shape[1]
    white = sorted(image.max(axis=2).ravel())[int(np.ceil(0.99 * matched.size)) - 1]
    thin = round(rules.THIN * width / 2)
    closed = each(each(image, thin, highest), thin, lowest)
    texture = each(closed, 1, lambda values: (highest(values) - lowest(values)).max())
    smooth = texture <= rules.SMOOTH * white
    candidate = smooth & (closed.max(axis=2) >= rules.BRIGHT * white)
    candidate &= closed[..., 0] - closed[..., 2] <= rules.REDDISH * white
    solid = each(each(candidate, 1, np.all), 1, np.any)
    pieces = [p for p in connected(solid) if len(p) >= rules.LEAST_AREA * matched.size]
    number = np.zeros(matched.shape, int)
    for i, piece in enumerate(pieces, 1):
        number[tuple(np.array(sorted(piece)).T)] = i
    around = each(number, max(round(rules.AROUND * width), rules.LEAST_AROUND), np.max)
    found = []
    for i, piece in enumerate(pieces, 1):
        ring = (around == i) & (number == 0) & ~smooth & np.isfinite(matched)
        remote = 1 - matched[ring] / (rules.FAR * width)
        far = remote[remote > 0]
        colours = np.array([closed[place] for place in sorted(piece)]) / white
        found.append(
            {
                "pixels": piece,
                "touches": any(y == 0 for y, x in piece),
                "far": ring.sum() >= rules.FEWEST and len(far) >= rules.FAR_SHARE * ring.sum(),
                "remoteness": far.sum(),
                "mean": colours.mean(axis=0),
                "deviation": colours.std(axis=0),
            }
        )
    sky = np.zeros(matched.shape, bool)
    sure = [piece for piece in found if piece["touches"] and piece["far"]]
    if not sure:
        return sky
    model = max(sure, key=lambda piece: piece["remoteness"])
    for piece in found:
        difference = np.abs(piece["mean"] - model["mean"])
        blue = piece["mean"][2] - piece["mean"][0] >= rules.BLUE
        if np.all(difference <= 2 * model["deviation"] + rules.ALIKE) and (
            (piece["touches"] and piece["far"]) or (blue and (piece["touches"] or piece["far"]))
        ):
            sky[tuple(np.array(sorted(piece["pixels"])).T)] = True
    return each(sky, 1, np.any)
