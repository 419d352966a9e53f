"""The page Patient data: rules, passages of texts, and images to check."""
