"""The report of a reader study on its page. It is computed in the background and stored."""
