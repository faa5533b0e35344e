"""The paper's protocols as jobs that run on the cores or on a cluster, and a store from which a run continues."""
