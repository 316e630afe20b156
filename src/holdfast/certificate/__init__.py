"""Certificate of re-use: what a ledger promised and answered, for people who hold no data."""
