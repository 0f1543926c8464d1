"""Segments that follow the planes: boundaries move, segments split, rims are decided anew."""
