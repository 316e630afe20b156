"""The leakage theorem: what answers reveal, counted in nats, for any question and any rows."""
