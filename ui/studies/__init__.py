"""Parts of the page Reader studies: planning, creating and following a study, and imports."""
