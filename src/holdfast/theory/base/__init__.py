"""What every room of the theory stands on."""
