"""Experiments of the paper and of our own, and the tuning of settings."""
