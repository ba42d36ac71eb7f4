"""Lets the folder be run: `python benchmarks/accuracy`."""

import sys
from pathlib import Path

# Run as a folder, Python looks for modules inside of it and not for the folder itself; and its
# statistics.py would stand in the way of the one that others import.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parents[1]))

from accuracy.command import main

main()
