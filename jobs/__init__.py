"""Background jobs that survive a restart.

Pages start them, the database stores them, app processes run them.
"""
