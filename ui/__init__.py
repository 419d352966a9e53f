"""What the pages share: shell, context, state, navigation, parts, and the parts of each page."""
