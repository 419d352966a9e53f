"""One page per file: load state, call one service, draw."""
