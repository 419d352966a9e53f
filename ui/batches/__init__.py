"""Parts of the pages Draw a batch, Batches, Progress, Agreement and Attention."""
