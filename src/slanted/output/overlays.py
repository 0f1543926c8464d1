"""Pictures that lie over the left image: segments, junctions and boundary labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.boundary_label import BoundaryLabel
from slanted.images.colour import as_rgb8
from slanted.output.legends import Legend, Swatch
from slanted.regions.edges import edge_numbers
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.regions import Regions

PIXELS_AT_A_TIME = 2**19
BOUNDARY_COLOUR = (255, 220, 0)
JUNCTION3_COLOUR = (0, 200, 255)
JUNCTION4_COLOUR = (230, 0, 120)
LABEL_COLOURS = {
    "coplanar": (0, 158, 115),
    "hinge": (240, 228, 66),
    "left (above) in front": (213, 94, 0),
    "right (below) in front": (86, 180, 233),
}
"""Colours of boundaries, from Okabe and Ito's set, which colour-blind readers can distinguish."""


def paint_boundaries(
    image: Image, label_image: NDArray[np.int32], colour: tuple[int, int, int] = BOUNDARY_COLOUR
) -> NDArray[np.uint8]:
    """Draw the lines between segments over the image, one pixel wide."""
    picture = as_rgb8(image).copy()
    picture[boundary_lines(label_image)] = colour
    return picture


def boundary_lines(label_image: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return an (H, W) mask of the pixels whose right or lower neighbour is in another segment."""
    line = np.zeros(label_image.shape, np.bool_)
    line[:, :-1] |= label_image[:, :-1] != label_image[:, 1:]
    line[:-1] |= label_image[:-1] != label_image[1:]
    return line


def paint_regions(image: Image, regions: Regions) -> NDArray[np.uint8]:
    """Draw segments over the image and mark junctions: discs for 3-way, squares for 4-way."""
    picture = paint_boundaries(image, regions.label_image)
    for u, v in np.floor(regions.junctions3_position).astype(int).tolist():
        cv2.circle(picture, (u, v), 2, JUNCTION3_COLOUR, cv2.FILLED)
    for u, v in np.floor(regions.junctions4_position).astype(int).tolist():
        cv2.rectangle(picture, (u - 3, v - 3), (u + 3, v + 3), JUNCTION4_COLOUR, cv2.FILLED)
    return picture


def regions_legend() -> Legend:
    """Return the legend of `paint_regions`."""
    names = ("boundary", "3-way junction", "4-way junction")
    colours = (BOUNDARY_COLOUR, JUNCTION3_COLOUR, JUNCTION4_COLOUR)
    return Legend("segments", swatches=tuple(map(Swatch, names, colours)))


def colour_segments(regions: Regions, image: Image) -> NDArray[np.uint8]:
    """Fill every segment with its mean colour."""
    rgb = as_rgb8(image).reshape(-1, 3)
    flat = regions.label_image.reshape(-1)
    means = [np.bincount(flat, weights=rgb[:, c]) / regions.size for c in range(3)]
    colours: NDArray[np.uint8] = np.rint(np.stack(means, axis=1)).astype(np.uint8)
    painted: NDArray[np.uint8] = colours[regions.label_image]
    return painted


def labels_legend() -> Legend:
    """Return the legend of `paint_labels`."""
    swatches = tuple(Swatch(name, colour) for name, colour in LABEL_COLOURS.items())
    return Legend("boundaries", swatches=swatches)


def shown_labels(regions: Regions, labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return (E,) the index into `LABEL_COLOURS` of each boundary.

    The paper's "left" and "right" are the first and second segment of a pair. In a picture, left
    and right are sides of the image, so the colour of an occlusion says on which side the front
    segment lies (above or below where one segment is above the other).
    """
    right, down = _across(regions)
    first_is_left = np.where(np.abs(right) >= np.abs(down), right >= 0, down >= 0)
    first_in_front = labels == BoundaryLabel.LEFT_OCCLUSION
    kinds = np.where(labels >= BoundaryLabel.LEFT_OCCLUSION, 2, labels).astype(np.int64)
    return np.where((kinds == 2) & (first_in_front != first_is_left), 3, kinds)


def _across(regions: Regions) -> NDArray[np.float64]:
    """Return (2, E) how far right of and below the first segment the second lies.

    It is measured at the boundary: segments may bend around each other, so centres would mislead.
    """
    count = np.zeros((2, regions.number_of_edges))
    sums = np.zeros((2, 2, regions.number_of_edges))  # of columns and rows
    for pixels, edge in _boundary_parts(regions):
        first = regions.label_image.reshape(-1)[pixels] == regions.edges[edge, 0]
        rows, columns = np.divmod(pixels, regions.label_image.shape[1])
        for side, of in enumerate((~first, first)):
            count[side] += np.bincount(edge[of], minlength=regions.number_of_edges)
            for axis, at in enumerate((columns, rows)):
                sums[side, axis] += np.bincount(edge[of], at[of], regions.number_of_edges)
    centres = sums / np.maximum(count, 1)[:, np.newaxis]
    across: NDArray[np.float64] = centres[0] - centres[1]
    return across


def _boundary_parts(regions: Regions) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield the pixels of all boundaries, each with the number of its boundary, in parts.

    Boundaries may have more pixels than the image, and what is computed of each takes 80 bytes.
    """
    for start in range(0, len(regions.boundary_pixels), PIXELS_AT_A_TIME):
        pixels = regions.boundary_pixels[start : start + PIXELS_AT_A_TIME]
        numbers = np.arange(start, start + len(pixels))
        yield pixels, np.searchsorted(regions.boundary_start, numbers, side="right") - 1


def paint_labels(image: Image, regions: Regions, labels: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Draw boundaries over the darkened image in the colours of their labels.

    Occlusions are painted last, on the front segment's side of the boundary.
    """
    lines = label_lines(regions, labels)
    picture: NDArray[np.uint8] = as_rgb8(image) // 2
    picture[lines > 0] = label_palette()[lines[lines > 0] - 1]
    return picture


def label_palette() -> NDArray[np.uint8]:
    """Return (4, 3) the colours of `LABEL_COLOURS`."""
    return np.array(list(LABEL_COLOURS.values()), np.uint8)


def label_lines(regions: Regions, labels: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return (H, W) the lines of `paint_labels`: 0 for none, 1 to 4 for `LABEL_COLOURS`."""
    kinds = (shown_labels(regions, labels) + 1).astype(np.uint8)
    front = np.where(labels == BoundaryLabel.RIGHT_OCCLUSION, regions.edges[:, 1], -1)
    front = np.where(labels == BoundaryLabel.LEFT_OCCLUSION, regions.edges[:, 0], front)

    image = regions.label_image
    width = image.shape[1]
    lines = np.zeros(image.size, np.uint8)
    sides = (image[:, :-1], image[:, 1:]), (image[:-1], image[1:])
    steps, lengths = (1, width), (width - 1, image.size)
    for (here, there), step, length in zip(sides, steps, lengths, strict=True):
        differ = here != there
        edge = edge_numbers(regions.edges, here[differ], there[differ], regions.count)
        shown = front[edge] == -1
        place = np.flatnonzero(differ)
        place += place // max(length, 1)  # to the right, `here` lacks the last pixel of each row
        for pixels in (place, place + step):
            lines[pixels[shown]] = kinds[edge[shown]]
    for pixels, edge in _boundary_parts(regions):
        in_front = image.reshape(-1)[pixels] == front[edge]
        lines[pixels[in_front]] = kinds[edge[in_front]]
    return lines.reshape(regions.label_image.shape)
