"""What was typed into a page and not saved: kept by the browser, and given back after F5."""
