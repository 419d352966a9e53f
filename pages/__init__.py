"""One screen a file: read state, call one service, draw."""
