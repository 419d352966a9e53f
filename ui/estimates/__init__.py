"""Parts of the page on what the sample says of the whole."""
