"""People, their sign-ins and wrong passwords: rows in and out."""
