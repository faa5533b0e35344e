"""One thread, and the hypothesis profile named by HYPOTHESIS_PROFILE: `ci` (repeatable), `thorough` or `mutants`."""

import torch

from verify.suite.profiles import load

load()
torch.set_num_threads(1)  # as `make test` does: sums of several threads have other last bits than those of processes
