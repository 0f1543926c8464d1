"""The potentials of the paper's Section 3.1, one function each, unweighted.

Potentials of planes are tabulated over all particles at once; every closed form equals the paper's
sum over pixels.
"""

from __future__ import annotations

import numpy as np

from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.model.compatibility_kernels import edge_tables
from slanted.model.data_kernels import truncated_sums
from slanted.model.junctions import junction3_impossible, junction4_variants
from slanted.model.observations import Matches, Observations
from slanted.model.planes import check_particles, edge_planes
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Starts
from slanted.runtime.threads import share, share_rows
from slanted.settings import ModelSettings


def disparity_cost(
    regions: Regions, observations: Observations, particles: Floats, K: float
) -> Floats:
    """Return φ_seg(y_i) = Σ_{p ∈ S_i ∩ F} φ^TP(p, y_i, K), (n, N).

    Here φ^TP = min(|D(p) − d̂_i(p, y_i)|, K)², times the weight of the match, which is 1 in the
    paper. A segment without matches costs 0, so its neighbours decide.

    Parameters
    ----------
    regions
        The segments.
    observations
        Their observations, from `slanted.model.observations.observe`.
    particles
        (n, N, 3) α, β, γ of N planes per segment, about the centres of the segments.
    K
        Truncation in pixels, ``settings.truncation``.
    """
    planes = check_particles(regions, particles)
    return share_rows(
        len(planes), lambda *some: disparity_rows(observations.segments, planes, K, *some)
    )


def disparity_rows(matches: Matches, planes: Floats, K: float, first: int, last: int) -> Floats:
    """Return Σ φ^TP over the matches of the sets `first` … `last` − 1, (last − first, M).

    `planes` are (sets, M, 3) of all sets, about their centres.
    """
    return _truncated_sums(matches, planes[first:last], K, first, last)


def _truncated_sums(matches: Matches, planes: Floats, K: float, first: int, last: int) -> Floats:
    start = matches.start[first : last + 1]
    if len(start) != len(planes) + 1:  # the kernel would read beyond the arrays
        raise InputError(
            f"observations: expected those of {last} sets of pixels or more, got "
            f"{len(matches.start) - 1}; observe the same regions"
        )
    arrays = matches.du, matches.dv, matches.disparity, matches.weight
    sums: Floats = truncated_sums(start, *arrays, planes, float(K))
    return sums


def boundary_cost(
    regions: Regions, observations: Observations, particles: Floats, K: float
) -> Floats:
    """Return Σ_{p ∈ B_ij ∩ F} φ^TP(p, y, K) for the planes of i and of j, (E, 2, N).

    With a for y_i and b for y_j, φ_bdy1 is a if i occludes j (lo), b if j occludes i (ro), and
    (a + b) / 2 for a hinge or coplanar segments. The sum is not divided by the number of pixels, as
    the costs of φ_bdy2 are. Arguments are as for `disparity_cost`.
    """
    planes = check_particles(regions, particles)

    def rows(first: int, last: int) -> Floats:
        of_edges = edge_planes(regions, planes, slice(first, last))
        return boundary_rows(observations, of_edges, K, first, last)

    return share_rows(regions.number_of_edges, rows)


def boundary_rows(
    observations: Observations, planes: Floats, K: float, first: int, last: int
) -> Floats:
    """Return `boundary_cost` of the edges `first` … `last` − 1, whose planes are (…, 2, N, 3)."""
    edges, sides, count, _ = planes.shape
    sums = _truncated_sums(
        observations.boundaries, planes.reshape(edges, sides * count, 3), K, first, last
    )
    return sums.reshape(edges, sides, count)


def compatibility_cost(regions: Regions, particles: Floats, settings: ModelSettings) -> Floats:
    """Return φ_bdy2(o_ij, y_i, y_j), (E, 4, N, N).

    It is φ_neg of both planes, λ_imp if d̂ < 0 somewhere on B_ij, plus

    - coplanar: the mean of (d̂_i − d̂_j)² over S_i ∪ S_j;
    - hinge: λ_hinge plus that mean over B_ij;
    - occlusion: λ_occ plus φ_occ, λ_imp if the front plane is behind the other somewhere on B_ij.

    Pixels outside F count too. Both comparisons tolerate 1e-9 pixels of rounding.

    Parameters
    ----------
    regions, particles
        As for `disparity_cost`.
    settings
        Section ``model``, for λ_occ, λ_hinge and λ_imp.
    """
    planes = check_particles(regions, particles)
    corners, corner_start, moments = boundary_shape(regions)

    count = planes.shape[1]
    tables = np.empty((regions.number_of_edges, len(BoundaryLabel), count, count))

    def tabulate(first: int, last: int) -> None:
        edges, boundary = slice(first, last), np.zeros((last - first, 2, count))
        edge_tables(
            edge_planes(regions, planes, edges), corners, corner_start[first : last + 1],
            moments[edges], settings.lambda_occ, settings.lambda_hinge, settings.lambda_imp,
            boundary, 0.0, 1.0, tables[edges],
        )  # fmt: skip

    share(len(tables), tabulate)
    return tables


def boundary_shape(regions: Regions) -> tuple[Floats, Starts, Floats]:
    """Return the `corners`, `corner_start` and `moments` of `edge_tables`."""
    centre = regions.boundary_centre
    corners = regions.hull_points.astype(np.float64)
    corners -= np.repeat(centre, np.diff(regions.hull_start), axis=0)
    moments = np.zeros((regions.number_of_edges, 2, 5))
    moments[:, 0, 2:] = regions.boundary_covariance
    moments[:, 1, :2] = regions.union_centre - centre
    moments[:, 1, 2:] = regions.union_covariance
    return corners, regions.hull_start, moments


def junction3_cost(settings: ModelSettings) -> Floats:
    """Return φ_jct(o_ij, o_jk, o_ik), (4, 4, 4): λ_imp where the junction is impossible."""
    return settings.lambda_imp * junction3_impossible().astype(np.float64)


def junction4_cost(settings: ModelSettings) -> Floats:
    """Return φ_crs(o_pq, o_qr, o_rs, o_ps), (4, 4, 4, 4, 4): λ_imp where it is impossible.

    The first index is the junction's kind, see `slanted.model.junctions.junction4_kinds`: two of
    the four edges may be stored in the reverse of the paper's order.
    """
    return settings.lambda_imp * junction4_variants().astype(np.float64)


def colour_cost(regions: Regions, settings: ModelSettings) -> Floats:
    """Return φ_col(o_ij), (E, 4): min(κ χ²(h_i, h_j), λ_col) if coplanar, otherwise λ_col.

    The paper does not define the scale of χ²; here it is ½ Σ (h − g)² / (h + g), from 0 to 1.

    Raises
    ------
    InputError
        If the regions were built without an image.
    """
    if regions.chi_squared is None:
        raise InputError(
            "regions: expected colour histograms for the colour potential, got none; pass the left "
            "image to build_regions"
        )
    cost = np.full((regions.number_of_edges, len(BoundaryLabel)), settings.lambda_col)
    cost[:, BoundaryLabel.COPLANAR] = np.minimum(
        settings.kappa * regions.chi_squared, settings.lambda_col
    )
    return cost
