"""Every tool whose files are read. A new one: its module, and one line here."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from benchmarks.imports.problems import SourceProblem
from releases.foreign.argilla import ArgillaReader
from releases.foreign.coco import CocoReader
from releases.foreign.contract import ForeignFile, ForeignReader
from releases.foreign.cvat import CvatReader
from releases.foreign.doccano import DoccanoReader
from releases.foreign.hugging_face import HuggingFaceReader
from releases.foreign.label_studio import LabelStudioReader
from releases.foreign.plain_table import PlainTableReader
from releases.foreign.potato import PotatoReader

READERS: tuple[ForeignReader, ...] = (
    LabelStudioReader(), DoccanoReader(), PotatoReader(), CvatReader(), CocoReader(), ArgillaReader(),
    HuggingFaceReader(), PlainTableReader(),
)  # fmt: skip
BY_KEY = {reader.key: reader for reader in READERS}
LEAST = 0.3


def recognise(files: Sequence[ForeignFile]) -> list[ForeignReader]:
    """Those that may have written the files, the likeliest first; a plain table only if they are no tool's."""
    scores = [(reader.sniff(files), reader) for reader in READERS[:-1]]
    tools = [reader for score, reader in sorted(scores, key=lambda pair: -pair[0]) if score >= LEAST]
    return tools or [reader for reader in READERS[-1:] if reader.sniff(files) >= LEAST]


def reader_for(files: Sequence[ForeignFile], key: str = "") -> ForeignReader:
    """The reader that is named, else the likeliest. Raises SourceProblem."""
    if key:
        if key not in BY_KEY:
            known = ", ".join(BY_KEY)
            raise SourceProblem(_("There is no tool “%(name)s”. There are: %(known)s.") % {"name": key, "known": known})
        return BY_KEY[key]
    readers = recognise(files)
    if not readers:
        names = ", ".join(reader.name for reader in READERS)
        text = _("These are not the files of a tool that is known. Known are: %(names)s. Import a table as items.")
        raise SourceProblem(text % {"names": names})
    return readers[0]
