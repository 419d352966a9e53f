"""Storage of endpoints, runs, their requests, the ledger of calls, and prompt versions."""
