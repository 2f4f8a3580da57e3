"""People of a cohort and a reviewer, who know no address but that of their work: they follow links and send forms."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.test import Client

from tests.chains.link_client import BUTTON, LinkClient, text_of

PASSWORD = "lamps over the quiet river"
SHEET = re.compile(r'id="bench"[^>]*data-assignment="(\d+)"')
MOST_SHEETS = 200
ALT = re.compile(r'<img\b[^>]*?\balt="([^"]*)"[^>]*>')
Answer = Callable[[str], Mapping[str, Any] | str | None]
"""From the text of a sheet, with that of its pictures: its fields, or a reason to skip it, or None to leave. A file is
a picture of one's own."""


class Annotator:
    """Somebody who makes an account by the link of an invitation, and joins its cohort by that."""

    def __init__(self, name: str, cohort: str, link: str) -> None:
        self.name, self.cohort = name, cohort
        self.desks: dict[str, str] = {}  # by stage the address of its sheets, once a link led there
        self.visitor: LinkClient = LinkClient(Client(), link)
        self.visitor.submit("Join", {"name": name, "email": self.email, "password": PASSWORD, "agree": "on"})

    @property
    def email(self) -> str:
        return f"{self.name.lower().replace(' ', '-')}@example.org"

    def answer(self, stage: str, answer: Answer, most: int = MOST_SHEETS) -> int:
        """Sheet after sheet, until there is no work left in the stage; return how many sheets were sent."""
        if not most or not self._begin(stage):
            return 0
        for sheets in range(most):
            response = answer(self.sheet_text) if SHEET.search(self._sheet) else None
            if response is None:
                return sheets
            self._skip(response) if isinstance(response, str) else self._submit(response)
        assert most < MOST_SHEETS, f"{stage} never ends for {self.name}"
        return most

    def correct(self, fields: Mapping[str, Any]) -> None:
        """Send an answer again that a reviewer returned."""
        self.visitor.open("/work/")
        self.visitor.submit(self.visitor.button("Correct"))
        self._submit(fields)

    def change(self, picture: str, fields: Mapping[str, str | None]) -> None:
        """Answer again what was asked about a picture, which is known by its text; None leaves a field out."""
        self.visitor.open("/work/history/")
        row = next(row for row in self.visitor.page.split("<tr")[1:] if picture in row)
        label = next(label for button in BUTTON.findall(row) if (label := text_of(button[1])).startswith("Edit"))
        self.visitor.submit(label, within=row)
        self._submit(fields)

    @property
    def _sheet(self) -> str:
        """The sheet in hand; the next one may stand behind it in a template."""
        return self.visitor.page.split("<template", 1)[0]

    @property
    def assignment(self) -> int:
        """The number of the sheet in hand, for what no text of it tells apart."""
        sheet = SHEET.search(self._sheet)
        assert sheet, f"{self.visitor.path} is no sheet"
        return int(sheet[1])

    @property
    def sheet_text(self) -> str:
        return text_of(ALT.sub(r" \1 ", self._sheet.split("<main", 1)[-1]))

    def _begin(self, stage: str) -> bool:
        """By the links from the page “Work”; later by the address of the sheets, as from the history of a browser."""
        if stage in self.desks:
            self.visitor.open(self.desks[stage])
            return True
        self.visitor.open("/work/")
        label = next(
            (f"{word} : {stage}" for word in ("Start", "Continue") if self.visitor.has(f"{word} : {stage}")), ""
        )
        if not label:
            return False
        self.visitor.follow(label)
        if "/ready/" in self.visitor.path:
            self.visitor.submit("I have read this")
            if "/ready/" in self.visitor.path:
                self.visitor.follow("Start")
        self.desks[stage] = self.visitor.path
        return True

    def _submit(self, fields: Mapping[str, Any]) -> None:
        values = {
            key: self._attach(key, value) if isinstance(value, UploadedFile) else value for key, value in fields.items()
        }
        self.visitor.submit("Submit Enter", {f"a-{key}": value for key, value in values.items()})

    def _attach(self, key: str, file: UploadedFile) -> list[str]:
        """Upload a picture; what the field sends then."""
        self.visitor.submit("Fetch", {f"u-{key}": file})
        return [*self.visitor.values(f"a-{key}")[:3], "own", ""]

    def _skip(self, reason: str) -> None:
        sheet = self.visitor.path
        self.visitor.open(f"{sheet}?open=why")
        self.visitor.submit("Skip Enter", {"reason": reason})
