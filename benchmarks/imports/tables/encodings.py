"""Which encoding a file of text has: known from a mark or by strict UTF-8, else asked for and never guessed."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

BLOCK = 1024 * 1024
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CHOICES = ("cp1252", "cp1250", "cp1251", "cp1254", "cp1256", "gb18030", "shift_jis", "euc_kr")
"""Asked for in this order."""
WITH_BAD_ROWS = "utf-8"
"""Asked for last: rows that are not UTF-8 are reported, and the others are taken."""
ACCEPTED = (*CHOICES, WITH_BAD_ROWS)
SAMPLE_LINES = 5


def find_encoding(file: BinaryIO) -> str:
    """The name of the encoding; empty where the file does not say.

    >>> import io
    >>> find_encoding(io.BytesIO("País".encode())), find_encoding(io.BytesIO("País".encode("utf-16")))
    ('utf-8', 'utf-16')
    >>> find_encoding(io.BytesIO("\\ufeffPaís".encode())), find_encoding(io.BytesIO("País".encode("cp1252")))
    ('utf-8-sig', '')
    """
    file.seek(0)
    start = file.read(4)
    for mark, name in MARKS:
        if start.startswith(mark):
            return name
    return "utf-8" if _decodes(file, "utf-8") else ""


def possible_encodings(file: BinaryIO) -> list[str]:
    """Those of CHOICES in which every byte of the file means something, and UTF-8, in which most of them may.

    >>> import io
    >>> possible_encodings(io.BytesIO("País\\x81".encode("latin-1")))[0]
    'cp1251'
    """
    return [name for name in CHOICES if _decodes(file, name)] + [WITH_BAD_ROWS]


def begins_as_text(file: BinaryIO) -> bool:
    """Whether most of the beginning is UTF-8, and none of it is of a file that is no text."""
    file.seek(0)
    start = file.read(BLOCK)
    wrong = start.decode("utf-8", "replace").count("\ufffd")
    return b"\0" not in start and wrong * 20 < len(start)


def sample_lines(file: BinaryIO, encoding: str) -> list[str]:
    """The first lines that are not plain English letters, as this encoding reads them: for a person to choose by.

    >>> import io
    >>> sample_lines(io.BytesIO("key;País\\n1;Côte d'Or".encode("cp1252")), "cp1252")
    ['key;País', "1;Côte d'Or"]
    """
    file.seek(0)
    lines: list[str] = []
    while len(lines) < SAMPLE_LINES and (line := file.readline(BLOCK)):
        if not line.isascii():
            lines.append(line.decode(encoding, "replace").strip()[:200])
    return lines


def _decodes(file: BinaryIO, encoding: str) -> bool:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in _blocks(file):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block
