"""HTTP: the app's own routes, the gate that requires a sign-in, and headers and limits. Plain ASGI."""
