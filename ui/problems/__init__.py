"""The problems that the checks reported, on the page Checks."""
