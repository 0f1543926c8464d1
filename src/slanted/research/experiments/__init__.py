"""The paper's tables and figures, and ours, each by one command: ``slanted experiment NAME``."""
