"""What the checks found, on the page Checks."""
