"""The page Patient data: rules, passages of texts, a wall of images to look at."""
