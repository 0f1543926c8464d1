"""Label images: connected pieces, runs of equal labels, patches."""
