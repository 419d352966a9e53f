"""Parts of the page Import: the choice of files, the preview, the mapping of columns, and the job."""
