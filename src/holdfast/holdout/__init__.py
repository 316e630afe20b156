"""The holdout: protected rows with their ledger, opened, asked and priced."""
