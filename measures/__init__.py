"""Estimators: pure functions of counts and ratings. If a result is None, its note gives the reason."""
