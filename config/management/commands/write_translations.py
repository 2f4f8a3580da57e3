"""`./emic manage write_translations`: write what speakers have confirmed into the catalogues of the repository."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import to_locale

from config.catalogue_writer import with_translations
from config.catalogues import CatalogueError
from people.locales.overlay import confirmed_texts
from people.models import InterfaceLanguage
from people.queries.interface_texts import annotator_texts


class Command(BaseCommand):
    help = (
        "Write the translations that speakers have confirmed into locale/<code>/LC_MESSAGES/django.po. Other "
        "translations stay as they are."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("languages", nargs="*", help="codes, such as sw or pt-br; without any, all languages")
        parser.add_argument("--output", type=Path, help="a folder for the catalogues, instead of locale/")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(settings.LOCALE_PATHS[0])
        known = [code for code, _name in settings.LANGUAGES if code != "en"]
        unknown = sorted(set(options["languages"]) - set(known))
        if unknown:
            raise CommandError(f"There is no language {unknown[0]!r}. There are: {', '.join(known)}.")
        with_rows = set(InterfaceLanguage.objects.filter(revision__gt=0).values_list("code", flat=True))
        for code in options["languages"] or [code for code in known if code in with_rows]:
            self._write(code, folder, options["output"] or folder)

    def _write(self, code: str, folder: Path, output: Path) -> None:
        name = Path(to_locale(code)) / "LC_MESSAGES" / "django.po"
        present = {text.text for text in annotator_texts().values()}
        translations = {text: tuple(forms) for text, forms in confirmed_texts(code) if text in present}
        try:
            content, changed = with_translations(folder / name, translations)
        except CatalogueError as error:
            raise CommandError(str(error)) from error
        target = output / name
        if changed or output != folder:
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content, encoding="utf-8")
            except OSError as error:
                problem = f"{target} could not be written: {error}. Name another folder with --output."
                raise CommandError(problem) from error
        self.stdout.write(f"{target}: {changed} texts written, {len(translations) - changed} were there already.")
