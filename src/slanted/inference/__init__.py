"""Inference: particles, convex belief propagation, decoding, and the outer loop (paper §3.2)."""
