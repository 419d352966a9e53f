"""HTTP: the app's own routes, the gate that asks for a sign-in, and what every answer carries. Plain ASGI."""
