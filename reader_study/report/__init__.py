"""The report of a reader study: one set of records, written as HTML, CSV, JSON and SVG."""
