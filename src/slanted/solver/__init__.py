"""Discrete factor graphs: convex belief propagation with a certified bound.

A `FactorGraph` goes in, a `Solution` comes out. Nothing here knows of stereo.
"""
