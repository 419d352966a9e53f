"""The shared parts of the review, reading and adjudication forms: browser files, routes and labels."""
