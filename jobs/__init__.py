"""Background jobs that survive a restart: started by pages, stored in the database, run by app processes."""
