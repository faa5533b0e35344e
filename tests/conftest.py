"""The hypothesis profile named by HYPOTHESIS_PROFILE: `ci` (default, repeatable), `thorough` or `mutants`."""

from verify.suite.profiles import load

load()
