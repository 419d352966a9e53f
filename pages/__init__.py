"""The pages of the app, one per module: each loads data from services and draws widgets."""
