"""Analysts, from those who mean well to those who attack."""
