"""Parts of the review page: its address, giving a question back, and what is shown without a question."""
