"""The hybrid MRF: potentials, their tables over particles, and the energy (paper §3.1)."""
