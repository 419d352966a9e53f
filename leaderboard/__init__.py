"""Leaderboards: submissions of teams, scored on the private split of a release."""
