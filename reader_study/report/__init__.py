"""The report of a reader study: tables and figures, written as HTML, CSV, JSON and SVG."""
