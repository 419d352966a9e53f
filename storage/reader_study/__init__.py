"""Storage of reader studies, their cases, readings and predictions, and of computed reports."""
