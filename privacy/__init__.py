"""Patient data: how a workspace keeps them, and finding them where they should not be: texts and pixels."""
