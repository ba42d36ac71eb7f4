"""`python -m robustscn` is `robustscn`, for those whose PATH does not have it."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
