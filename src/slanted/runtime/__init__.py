"""How code is run: kernels and their cache, threads, workers, memory."""
