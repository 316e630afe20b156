"""Leaderboards: submissions for the same items, ranked only as far as the labels show it."""
