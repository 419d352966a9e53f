"""Parts of the page Dataset estimates."""
