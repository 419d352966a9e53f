"""The page Near-duplicates: the search, the marks, and the calibration of its threshold."""
