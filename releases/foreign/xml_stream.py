"""XML in pieces: elements of one name, each read by itself, so that a damaged one is a problem of its row.

No document type, and so no entity, is ever read. Expat does not fetch anything.
"""

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO
from xml.parsers import expat

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem
from releases.foreign.json_stream import FOREIGN

BLOCK = 1024 * 1024
LONGEST_ELEMENT = 16 * 1024 * 1024
LONGEST_TREE = 4 * 1024 * 1024
DEEPEST = 60
DECLARED = re.compile(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)["']""")
ENCODINGS = {"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"}
FORBIDDEN = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass
class XmlElement:
    tag: str
    attributes: Mapping[str, str]
    children: "list[XmlElement]" = field(default_factory=list)
    text: str = ""

    def named(self, tag: str) -> "Iterator[XmlElement]":
        """Its children of one name."""
        return (child for child in self.children if child.tag == tag)

    def walk(self) -> "Iterator[XmlElement]":
        """Itself and all below, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)


def parse_xml(text: str) -> XmlElement:
    """Raises RowProblem."""
    if FORBIDDEN.search(text):
        raise RowProblem("entities", _("XML with a document type or entities is not read."))
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = XmlElement("", {})
    open_elements = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > DEEPEST:
            raise RowProblem("too_deep", _("This row is nested too deeply."))
        element = XmlElement(tag, attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_tag: str) -> None:
        open_elements.pop()

    def data(words: str) -> None:
        open_elements[-1].text += words

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, UnicodeEncodeError, ValueError) as error:
        raise RowProblem("unreadable", _("This is not XML that can be read.")) from error
    return top.children[0]


def read_xml(file: BinaryIO) -> XmlElement:
    """A small file whole. Raises SourceProblem."""
    data = file.read(LONGEST_TREE + 1)
    if len(data) > LONGEST_TREE:
        raise SourceProblem(_("The XML is larger than 4 MB."))
    text = data.decode(_encoding(data), "replace").lstrip("\ufeff")
    try:
        return parse_xml(_without_declaration(text))
    except RowProblem as problem:
        raise SourceProblem(problem.message) from problem


def read_xml_elements(file: BinaryIO, tag: str) -> Iterator[tuple[int, XmlElement | RowProblem]]:
    """The elements called `tag`, numbered from 1; none lies in another. Raises SourceProblem for a document type."""
    begin = re.compile(rf"<{tag}(?=[\s/>])")
    end = re.compile(rf"</{tag}\s*>")
    number, buffer, ended = 0, "", False
    pieces = _pieces(file)
    while True:
        start = begin.search(buffer)
        if start and (stop := _end_of(buffer, start, end)):
            number += 1
            yield number, _element(buffer[start.start() : stop])
            buffer = buffer[stop:]
            continue
        if ended:
            break
        if len(buffer) > LONGEST_ELEMENT:
            yield number + 1, RowProblem("too_long", _("This entry is longer than 16 MB, so the rest is not read."))
            return
        buffer = buffer[start.start() :] if start else buffer[-len(tag) - 12 :]
        piece = next(pieces, "")
        if FORBIDDEN.search(buffer + piece):
            raise SourceProblem(_("XML with a document type or entities is not read."))
        buffer, ended = buffer + piece, not piece
    if begin.search(buffer):
        yield (
            number + 1,
            RowProblem("cut", _("The file ends within this row. Export it again; what comes before is imported.")),
        )


def _end_of(buffer: str, start: re.Match[str], end: re.Pattern[str]) -> int | None:
    head = buffer.find(">", start.end())
    if head < 0:
        return None
    if buffer[head - 1] == "/":
        return head + 1
    stop = end.search(buffer, head)
    return stop.end() if stop else None


def _element(text: str) -> XmlElement | RowProblem:
    if FOREIGN.search(text):
        return RowProblem("encoding", _("This row has bytes that are not UTF-8. Export the file again as UTF-8."))
    try:
        return parse_xml(text)
    except RowProblem as problem:
        return problem


def _pieces(file: BinaryIO) -> Iterator[str]:
    start = file.read(BLOCK)
    name = _encoding(start)
    decoder = codecs.getincrementaldecoder(name)("replace" if name == "utf-16" else "surrogateescape")
    yield decoder.decode(start)
    while block := file.read(BLOCK):
        yield decoder.decode(block)
    if rest := decoder.decode(b"", final=True):
        yield rest


def _encoding(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    declared = DECLARED.search(start[:300])
    name = declared.group(1).decode().lower() if declared else "utf-8"
    return name if name in ENCODINGS else "utf-8"


def _without_declaration(text: str) -> str:
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1)
