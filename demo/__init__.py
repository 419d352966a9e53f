"""The demo workspace: phantoms, questions and fictitious people."""
