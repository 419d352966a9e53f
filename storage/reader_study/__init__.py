"""Reader studies, their cases, readings and predictions, and reports that are kept."""
