"""One picture as JPEG bytes: a function that another process can be asked for."""

from io import BytesIO

from benchmarks.demo.draw import draw
from benchmarks.demo.scene import Condition


def draw_jpeg(name: tuple[str, str, Condition], seed: int) -> bytes:
    """`name` is (concept, culture, condition)."""
    buffer = BytesIO()
    draw(*name, seed).save(buffer, "JPEG", quality=88)
    return buffer.getvalue()
