"""Drawn pictures for the demo: pure Pillow and numpy, no Django."""

from benchmarks.demo.draw import describe, draw
from benchmarks.demo.register import CONCEPTS, CULTURES

__all__ = ["CONCEPTS", "CULTURES", "describe", "draw"]
