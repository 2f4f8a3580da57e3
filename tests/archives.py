"""Zip files for tests, good and bad."""

import io
import zipfile
from collections.abc import Mapping

from tests import pictures as draw

HEAD = "file,key,concept,country,condition,source,licence,alt"


def pack_zip(members: Mapping[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def manifest(*rows: str, head: str = HEAD) -> bytes:
    return "\n".join([head, *rows, ""]).encode()


def faulty_archive() -> bytes:
    """A manifest with each fault once, among good rows."""
    good = draw.png(200, 150, seed=1)
    members = {
        "manifest.csv": manifest(
            "a.png,one,dance,Egypt,natural,https://example.org/a,CC BY 4.0,People dancing",
            "nowhere.png,two,dance,Egypt,natural,,,",
            "notes.jpg,three,dance,Egypt,natural,,,",
            "cut.png,four,dance,Egypt,natural,,,",
            "bomb.png,five,dance,Egypt,natural,,,",
            "a-again.png,six,music,Brazil,natural,,,",
            "b.jpg,seven,music,Brasilia,natural,,,",
            "c.jpg,eight,music,Brazil,drawn,,,",
            "b.jpg,nine,music,brazil,Generated,,,",
            "c.jpg,ten,head-coverings,US,generated,,,",
        ),
        "a.png": good,
        "a-again.png": good,
        "notes.jpg": b"Remember to take the picture.\n",
        "cut.png": draw.png(200, 150, seed=2)[:3000],
        "bomb.png": draw.enormous_png(20_000, 20_000),
        "b.jpg": draw.turned_jpeg(6),
        "c.jpg": draw.turned_jpeg(1, 300, 200),
    }
    return pack_zip(members)
