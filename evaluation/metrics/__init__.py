"""Measures as pure functions: numbers in, an Estimate out. No Django, nothing of the project outside this folder."""
