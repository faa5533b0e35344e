"""Training by picking: a learner that trains only on a start and on points it picks, and the certificate it gets."""
