"""The clauses of the contract, by topic."""
