"""Superpixels."""
