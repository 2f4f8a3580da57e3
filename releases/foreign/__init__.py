"""Files of other tools, read. Pure: nothing here knows the database."""
