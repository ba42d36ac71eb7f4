"""`python -m robustscn.cli` is `robustscn`."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
