"""Background jobs: starting them from pages, and showing their progress and outcome."""
