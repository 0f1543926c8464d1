"""The numbers of the paper's tables, in percent, in the order of their columns.

Columns are errors above 2, 3, 4 and 5 px on KITTI, above 1 to 5 px on Middlebury, each over the
non-occluded and over all pixels.
"""

from __future__ import annotations

from slanted.research.experiments.data import KITTI, MIDDLEBURY

Row = tuple[float, ...]
Figures = dict[str, Row]
"""A row for each dataset."""
NAN = float("nan")

OURS: Figures = {
    KITTI: (9.03, 11.58, 4.47, 6.66, 3.13, 5.05, 2.51, 4.23),
    MIDDLEBURY: (5.1, 17.5, 3.3, 14.3, 2.8, 13.0, 2.5, 12.2, 2.3, 11.6),
}
SGBM: Figures = {
    KITTI: (12.48, 14.86, 7.40, 9.54, 5.51, 7.43, 4.52, 6.21),
    MIDDLEBURY: (7.0, 24.4, 5.9, 22.9, 5.5, 22.4, 5.3, 22.1, 5.2, 21.8),
}
BLOCK_MATCHING: Figures = {KITTI: (29.18, 31.65, 24.94, 27.32, 23.21, 25.48, 22.02, 24.18)}
ELAS: Figures = {
    KITTI: (11.25, 13.71, 7.60, 9.77, 5.91, 7.79, 4.87, 6.52),
    MIDDLEBURY: (7.1, 23.4, 4.7, 17.2, 3.9, 14.3, 3.5, 12.8, 3.2, 11.8),
}

OTHERS: dict[str, Figures] = {
    KITTI: {
        "GC+occ": (41.92, 43.64, 34.04, 35.85, 29.79, 31.59, 27.05, 28.82),
        "CostFilter": (28.46, 29.96, 20.74, 22.13, 17.24, 18.47, 15.40, 16.50),
        "GCS": (21.87, 23.76, 14.21, 15.92, 10.61, 12.12, 8.55, 9.90),
        "GCSF": (20.75, 22.69, 13.02, 14.77, 9.48, 11.02, 7.48, 8.84),
        "SDM": (19.01, 20.89, 11.95, 13.65, 8.98, 10.47, 7.35, 8.66),
    },
    MIDDLEBURY: {
        "GC+occ": (23.8, NAN, 16.6, NAN, 13.9, NAN, 12.5, NAN, 11.5, NAN),
        "EBP": (14.3, NAN, 10.3, NAN, 9.4, NAN, 9.0, NAN, 8.7, NAN),
        "GCS": (13.2, NAN, 9.0, NAN, 7.4, NAN, 6.5, NAN, 5.9, NAN),
        "SDM": (12.8, NAN, 9.3, NAN, 8.2, NAN, 7.7, NAN, 7.3, NAN),
    },
}
"""Methods that we do not run, by dataset; on Middlebury for non-occluded pixels only."""

SEGMENTATION: dict[str, dict[str, tuple[float, Row]]] = {
    KITTI: {
        "UCM": (91.7, (58.06, 58.85, 52.13, 52.86, 48.67, 49.35, 46.26, 46.88)),
        "SLIC, fewer": (978.6, (9.21, 11.73, 4.60, 6.75, 3.26, 5.15, 2.63, 4.32)),
        "SLIC": (1198.8, (9.16, 11.76, 4.62, 6.86, 3.26, 5.23, 2.62, 4.39)),
        "UCM + SLIC": (1191.7, OURS[KITTI]),
    },
    MIDDLEBURY: {
        "UCM": (259.0, (35.5, 48.2, 26.7, 37.8, 21.3, 31.4, 17.7, 27.1, 15.2, 23.7)),
        "SLIC, fewer": (1787.6, (5.4, 17.8, 3.6, 14.4, 3.0, 13.1, 2.8, 12.3, 2.6, 11.7)),
        "SLIC": (2066.1, (5.3, 17.8, 3.5, 14.5, 3.0, 13.0, 2.7, 12.2, 2.5, 11.6)),
        "UCM + SLIC": (2042.6, OURS[MIDDLEBURY]),
    },
}
"""Mean number of superpixels, and errors, by dataset and method."""

ORACLE: Figures = {
    KITTI: (1.38, 1.70, 1.03, 1.27, 0.90, 1.10, 0.82, 0.99),
    MIDDLEBURY: (2.0, 6.2, 1.4, 5.5, 1.3, 5.3, 1.2, 5.2, 1.1, 5.1),
}
INITIAL_FIT: Figures = {
    KITTI: (10.69, 13.72, 6.12, 8.83, 4.59, 7.02, 3.76, 5.98),
    MIDDLEBURY: (6.1, 21.8, 4.2, 19.3, 3.5, 18.3, 3.2, 17.7, 3.0, 17.3),
}
OURS_BESIDE_ORACLE: Figures = {
    KITTI: (9.64, 12.24, 5.14, 7.35, 3.70, 5.63, 2.97, 4.69),
    MIDDLEBURY: OURS[MIDDLEBURY],
}
"""On KITTI's training images: only these have the ground truth that an oracle needs."""

TRAINING_SIZE = {
    1: (9.14, 11.49, 4.58, 6.55, 3.23, 4.92, 2.61, 4.09),
    5: (9.02, 11.58, 4.46, 6.66, 3.13, 5.06, 2.50, 4.24),
    10: OURS[KITTI],
    20: (9.03, 11.59, 4.46, 6.66, 3.12, 5.05, 2.49, 4.22),
}
EPSILON = {
    0.0: (9.16, 11.84, 4.64, 6.96, 3.25, 5.30, 2.58, 4.42),
    0.5: (9.15, 11.59, 4.59, 6.65, 3.24, 5.02, 2.59, 4.17),
    1.0: OURS[KITTI],
}
LOSS = {
    "l2": OURS[KITTI],
    "out-2px": (9.03, 11.59, 4.46, 6.65, 3.13, 5.05, 2.50, 4.24),
    "out-3px": (9.05, 11.58, 4.47, 6.64, 3.13, 5.03, 2.49, 4.20),
    "out-4px": (9.02, 11.58, 4.47, 6.67, 3.13, 5.06, 2.50, 4.23),
    "out-5px": (9.05, 11.60, 4.48, 6.66, 3.13, 5.04, 2.50, 4.22),
}

NOISE = {0.0: (0.44, 0.3), 1.0: (0.80, 0.6), 2.0: (1.37, 1.9), 3.0: (2.24, 5.3), 5.0: (4.40, 8.9)}
"""RMS error in pixels and wrong boundary labels in percent, by σ."""

MINUTES = {300: 2.5, 1200: 5.5}
"""Minutes of inference on a KITTI image with five draws, by number of superpixels (§4)."""
MINUTES_FOR_TWO_DRAWS = 2.2
