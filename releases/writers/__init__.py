"""Files for other tools, written. Pure: rows come in as dictionaries, pieces of files go out."""
