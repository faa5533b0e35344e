"""python -m adanet_train: the command adanet-train, for torchrun."""

import sys

from adanet_train.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
