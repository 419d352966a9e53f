"""The parts of the page Taxonomy."""
