"""The ledger: an append-only, hash-chained record, durable before any data is touched."""
