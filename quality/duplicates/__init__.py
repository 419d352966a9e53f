"""Near-duplicate questions: similarity finds candidates, and rules on their meaning decide."""
