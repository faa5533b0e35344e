"""verify-claims: the ledger of the paper's claims, run and shown."""
