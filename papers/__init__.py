"""One folder for each published benchmark. Nothing outside this package imports it."""
