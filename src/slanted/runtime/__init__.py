"""What runs the code: kernels and their cache, threads, worker processes, memory."""
