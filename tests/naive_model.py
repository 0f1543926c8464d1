"""Slow, obvious twins of the model: the formulas of the paper's Section 3.1, pixel by pixel."""

from itertools import combinations

import numpy as np

import naive
from slanted.boundary_label import BoundaryLabel

CO, HI, LO, RO = BoundaryLabel


def centre(points):
    return [sum(u for u, _ in points) / len(points), sum(v for _, v in points) / len(points)]


def disparity_at(p, plane, c):
    """Eq. 1."""
    alpha, beta, gamma = plane
    return alpha * (p[0] - c[0]) + beta * (p[1] - c[1]) + gamma


def truncated_sum(points, disparity, weights, plane, c, K):
    """The sum of φ^TP over the points in F."""
    total = 0.0
    for u, v in points:
        if not np.isnan(disparity[v, u]):
            residual = abs(disparity[v, u] - disparity_at((u, v), plane, c))
            total += weights[v, u] * min(residual, K) ** 2
    return total


def boundary_cost(label, first, second):
    """φ_bdy1, from the truncated sums over B_ij of i and of j."""
    return {LO: first, RO: second, HI: (first + second) / 2, CO: (first + second) / 2}[label]


def compatibility_cost(label, first, second, plane_i, plane_j, settings):
    """φ_bdy2 of two segments, given by their points."""
    c_i, c_j = centre(first), centre(second)
    boundary = naive.boundary_set(first, second)

    def of_i(p):
        return disparity_at(p, plane_i, c_i)

    def of_j(p):
        return disparity_at(p, plane_j, c_j)

    def occ(front, back):
        hidden = any(front(p) < back(p) - 1e-9 for p in boundary)
        return settings.lambda_imp if hidden else 0

    def neg(plane):
        return settings.lambda_imp if min(plane(p) for p in boundary) < -1e-9 else 0

    def mean_square(points):
        return sum((of_i(p) - of_j(p)) ** 2 for p in points) / len(points)

    return (
        neg(of_i)
        + neg(of_j)
        + {
            LO: lambda: settings.lambda_occ + occ(of_i, of_j),
            RO: lambda: settings.lambda_occ + occ(of_j, of_i),
            HI: lambda: settings.lambda_hinge + mean_square(boundary),
            CO: lambda: mean_square(first + second),
        }[label]()
    )


def colour_cost(label, first, second, image, settings):
    """φ_col of two segments, given by their points."""
    if label != CO:
        return settings.lambda_col
    distance = naive.chi_squared(naive.histogram(first, image), naive.histogram(second, image))
    return min(settings.kappa * distance, settings.lambda_col)


def towards(labels, x, y):
    """The label of the boundary from x to y, from labels of pairs in either order."""
    return labels[x, y] if (x, y) in labels else labels[y, x].flipped()


def impossible_three_way(labels):
    """The case of Figure 1, or None, for the labels of the pairs of three segments.

    Word by word after the caption: counts of labels, and who is in front of whom.
    """
    segments = sorted({x for pair in labels for x in pair})
    joined = {label: [] for label in (CO, HI)}
    in_front = []
    for x, y in combinations(segments, 2):
        label = towards(labels, x, y)
        if label in joined:
            joined[label].append({x, y})
        else:
            in_front.append((x, y) if label == LO else (y, x))
    fronts = [front for front, _ in in_front]
    found = None
    match len(joined[HI]), len(joined[CO]), len(in_front):
        case (0, 0, 3) if len(set(fronts)) == 3:
            found = "a"
        case (1, 0, 2) | (0, 1, 2):
            (pair,) = joined[HI] + joined[CO]
            (third,) = set(segments) - pair
            if fronts.count(third) == 1:  # in front of one, behind the other
                found = "b" if joined[HI] else "c"
        case (2, 0, 1):
            found = "d"
        case (0, 2, 1):
            found = "e"
        case (1, 2, 0):
            found = "f"
        case (1, 1, 1) if fronts[0] in joined[CO][0]:
            found = "g"
    return found


def valid_four_way(labels, cycle):
    """Whether Figure 2 shows the labels of the pairs round a point.

    Two opposite boundaries are coplanar. The other two separate the same two sides, so both are
    coplanar or both are hinges, or the same side is in front at both.
    """
    p, q, r, s = cycle
    # Each: two coplanar pairs, and the two boundaries across from one side to the other.
    for (a, b), (c, d), across in (
        ((p, q), (r, s), [(p, s), (q, r)]),
        ((p, s), (q, r), [(p, q), (s, r)]),
    ):
        if towards(labels, a, b) == towards(labels, c, d) == CO and (
            towards(labels, *across[0]) == towards(labels, *across[1])
        ):
            return True
    return False


def energies(
    labels, image, disparity, planes, edge_labels, settings, census, weights=None, user=None
):
    """The features of a solution; `edge_labels` are by pair i < j, `user` costs pixels of a plane."""
    points = naive.pixels_of(labels)
    weights = np.ones(labels.shape) if weights is None else weights
    K = settings.truncation
    seg = bdy1 = bdy2 = col = 0.0
    for i, members in points.items():
        seg += truncated_sum(members, disparity, weights, planes[i], centre(members), K)
    for (i, j), label in edge_labels.items():
        boundary = naive.boundary_set(points[i], points[j])
        sums = [
            truncated_sum(boundary, disparity, weights, planes[k], centre(points[k]), K)
            for k in (i, j)
        ]
        bdy1 += boundary_cost(label, *sums)
        bdy2 += compatibility_cost(label, points[i], points[j], planes[i], planes[j], settings)
        col += colour_cost(label, points[i], points[j], image, settings)

    def around(cycle):
        following = (*cycle[1:], cycle[0])
        return {pair: towards(edge_labels, *pair) for pair in zip(cycle, following, strict=True)}

    jct = sum(impossible_three_way(around(c)) is not None for c in naive.junctions3(labels))
    crs = sum(not valid_four_way(around(c), c) for c in naive.junctions4(labels))
    imp = settings.lambda_imp
    return {
        "seg": seg,
        "bdy1": bdy1,
        "bdy2": bdy2,
        "jct": imp * jct,
        "crs": imp * crs,
        "col": col,
        "vis": sum(contradictions(points[i], disparity, planes[i]) for i in points),
        "pho": sum(differing_bits(points[i], disparity, census, planes[i]) for i in points)
        * 4
        / 62,
        "user": sum(user(points[i], planes[i]) for i in points) if user else 0.0,
    }


def right_view(disparity):
    """{(row, column in the right view): the nearest match there}."""
    seen = {}
    for (y, x), d in np.ndenumerate(disparity):
        if np.isfinite(d):
            place = y, int(np.rint(np.float32(x) - np.float32(d)))
            seen[place] = max(d, seen.get(place, -np.inf))
    return seen


def contradictions(points, disparity, plane, slack=1.5):
    """Pixels without a match at whose place in the right view there is something farther."""
    (u, v), seen = centre(points), right_view(disparity)
    count = 0
    for x, y in points:
        if not np.isfinite(disparity[y, x]):
            d = plane[0] * (x - u) + plane[1] * (y - v) + plane[2]
            place = int(np.rint(x - d))
            if 0 <= place < disparity.shape[1] and (y, place) in seen:
                count += seen[y, place] < d - slack
    return count


def differing_bits(points, disparity, census, plane, slack=1.5, most=28, hidden=20):
    """Bits by which the views differ where a plane puts a fourth of the pixels."""
    (u, v), seen = centre(points), right_view(disparity)
    width, total = disparity.shape[1], 0.0
    for x, y in points:
        if (x + 2 * y) % 4:
            continue
        d = plane[0] * (x - u) + plane[1] * (y - v) + plane[2]
        place = x - d
        if not 0 <= place <= width - 1 or seen.get((y, int(place + 0.5)), -np.inf) > d + slack:
            total += hidden
            continue
        first = int(place)
        bits = [
            (int(census.left[y, x]) ^ int(census.right[y, column])).bit_count()
            for column in (first, min(first + 1, width - 1))
        ]
        total += min(bits[0] + (place - first) * (bits[1] - bits[0]), most)
    return total
