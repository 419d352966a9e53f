"""Parts of the pages People and My account."""
