"""Simulated studies with a known truth, by kind of number: coverage.py runs them and prints a row for each design."""
