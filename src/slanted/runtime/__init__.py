"""Execution of code: kernels and their cache, threads, workers, memory."""
