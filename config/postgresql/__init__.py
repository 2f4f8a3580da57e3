"""The database engine of the site: see base.py."""
