"""A figure as a file: SVG, PNG and CSV, for pages and REST."""

from collections.abc import Callable
from io import BytesIO

from PIL import Image

from evaluation.figures.figure import Figure
from evaluation.rendering.csv_file import to_csv

TYPES = {"svg": "image/svg+xml; charset=utf-8", "png": "image/png", "csv": "text/csv; charset=utf-8"}
POLICY = "default-src 'none'; img-src data:; sandbox"
"""A drawing that is opened by itself may show the pictures inside it, and nothing else."""
PIXELS = 2.0  # of a PNG for one of the drawing


def figure_file(figure: Figure, form: str, href: Callable[[str], str]) -> str | bytes:
    """`href`: from a checksum to the picture inside the file; "" leaves it out."""
    if form == "csv":
        return "".join(to_csv(figure.report))
    svg = figure.svg(href=href)
    return svg if form == "svg" else to_png(svg)


def to_png(svg: str) -> bytes:
    """In 256 colours, which drawings have enough of; those with pictures in them keep all of theirs. The usual
    compression: the strongest takes six times as long, for 5 % fewer bytes."""
    import vl_convert  # it brings a whole renderer along; only who asks for a PNG pays for it

    drawn = Image.open(BytesIO(vl_convert.svg_to_png(svg, scale=PIXELS))).convert("RGB")
    bytes_io = BytesIO()
    (drawn if "<image" in svg else drawn.quantize(256, dither=Image.Dither.NONE)).save(bytes_io, "PNG")
    return bytes_io.getvalue()
