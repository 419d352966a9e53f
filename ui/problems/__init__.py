"""Parts of the page Checks, which shows the problems that the checks reported."""
