"""The door: who gets in, the headers that every answer carries, and the app's own routes. Plain ASGI."""
