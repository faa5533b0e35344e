"""The protocols of adanet-experiment: which learners are run on which data, and what a row of the results says."""
