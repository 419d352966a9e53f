"""Parts of the page Patient data: rules, passages of texts, and images to check."""
