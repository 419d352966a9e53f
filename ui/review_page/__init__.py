"""Parts of the review page: its address, handing a question back, and the page without a question."""
