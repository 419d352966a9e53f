"""Parts of the page Leaderboards."""
