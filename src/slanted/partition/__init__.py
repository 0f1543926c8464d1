"""Label images of any kind: connected pieces, runs of pixels, patches."""
