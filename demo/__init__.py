"""The demo workspace: phantoms, questions and people that do not exist."""
