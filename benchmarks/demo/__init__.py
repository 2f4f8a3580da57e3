"""Drawn pictures for the demo: pure Pillow and numpy, no Django."""

from benchmarks.demo.draw import CONCEPTS, CULTURES, describe, draw

__all__ = ["CONCEPTS", "CULTURES", "describe", "draw"]
