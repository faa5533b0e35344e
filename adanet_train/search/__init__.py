"""The search for the next subnetwork: committees, weak learners, selection on held-out shares."""
