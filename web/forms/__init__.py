"""What the review, reading and adjudication forms share: their browser files, routes and labels."""
