"""`./emic manage makemessages`: Django's command, with the form in which this repository keeps its catalogues."""

from pathlib import Path
from typing import Any

from django.core.management.commands import makemessages

NO_TEXTS = [".venv", "data", "static", "tests", "var"]
CHANGING = ('"POT-Creation-Date:', '"Report-Msgid-Bugs-To:')


class Command(makemessages.Command):
    """A change of one text changes the lines of that text only: no places, no wrapped lines, no date."""

    def handle(self, *args: Any, **options: Any) -> None:
        options.update(no_location=True, add_location=None, no_wrap=True, no_obsolete=True)
        options["ignore_patterns"] = [*options["ignore_patterns"], *NO_TEXTS]
        super().handle(*args, **options)

    def write_po_file(self, potfile: str, locale: str) -> None:
        super().write_po_file(potfile, locale)
        path = Path(potfile).parent / locale / "LC_MESSAGES" / "django.po"
        header, messages = path.read_text(encoding="utf-8").split("\n\n", 1)
        lines = [line for line in header.splitlines() if not line.startswith(CHANGING)]
        path.write_text("\n".join(lines) + "\n\n" + messages, encoding="utf-8")
