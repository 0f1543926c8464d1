"""``python -m slanted``."""

from slanted.cli import main

main()
