"""Estimators: pure functions of counts and ratings. A note explains every None."""
