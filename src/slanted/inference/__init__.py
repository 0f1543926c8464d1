"""Inference: local fits, particles and the outer loop around the solver (paper §3.2)."""
