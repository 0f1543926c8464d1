"""Refinement of segments by the planes: boundaries move, segments split, rims are corrected."""
