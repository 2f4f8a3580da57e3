"""Recipes: published (or our own) benchmarks written down as data. Pure: no Django, no project code from outside."""
