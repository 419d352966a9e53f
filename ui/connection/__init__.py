"""The connection between page and server, and the message shown while it is interrupted."""
