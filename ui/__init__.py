"""The user interface: shell, context, state, navigation, shared parts, and the parts of each page."""
