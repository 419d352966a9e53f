"""The parts of the page Compliance."""
