"""A release comes back: verified, read row by row, and written as the benchmark that it was."""
