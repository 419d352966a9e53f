"""The parts of the page Errata."""
