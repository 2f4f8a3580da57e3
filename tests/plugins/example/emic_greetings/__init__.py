"""Greetings: an example of a benchmark plugin."""
