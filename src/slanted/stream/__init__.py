"""A video or a pair of cameras: pairs that follow each other."""
