"""Reading what people bring: archives, folders, manifests. Nothing here writes to the database."""
