"""Long work that survives a restart: started by a page, kept in the database, run by any app process."""
