"""Knowledge bases of a team: made, and filled from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.files.base import File
from django.db import transaction
from django.utils.translation import gettext as _

from jobs.models import Job, record
from jobs.services import lifecycle as jobs
from people.models import Team, User
from predictions.models import KnowledgeBase, Run
from predictions.services.files import uploads

KIND = "import_knowledge"
SCOPE = "knowledge"


def scope_of(base: KnowledgeBase) -> str:
    return f"{SCOPE}:{base.pk}"


def is_closed(base: KnowledgeBase) -> bool:
    """Images have been linked to it: what they were linked to must not change."""
    return Run.objects.filter(task=Run.Task.LINKING, knowledge_index__base=base).exists()


def get_or_create_base(
    team: Team, actor: User | None, *, key: str, name: str, version: str = "1", licence: str = ""
) -> tuple[KnowledgeBase, bool]:
    """The team's base with this key and version, and whether it is new."""
    with transaction.atomic():
        base, created = KnowledgeBase.objects.get_or_create(
            team=team, key=key, version=version, defaults={"name": name, "licence": licence, "created_by": actor}
        )
        if created:
            record(actor, "knowledge.made", scope=f"team:{team.pk}", target=f"knowledge:{base.pk}", key=key)
        return base, created


def start_import(base: KnowledgeBase, actor: User, entries: File[Any], pictures: File[Any] | None = None) -> Job:
    """Keep the files until the work is done, and queue it."""
    params = {"file": uploads.store_upload(entries), "pictures": uploads.store_upload(pictures) if pictures else ""}
    return _start(base, actor, str(entries.name), params, inline=False)


def start_path(base: KnowledgeBase, actor: User | None, entries: Path, pictures: Path | None = None) -> Job:
    """For the command line only: no page may name a path on the server. The caller runs the job."""
    params = {"path": str(entries.resolve()), "pictures_path": str(pictures.resolve()) if pictures else ""}
    return _start(base, actor, entries.name, params, inline=True)


def _start(base: KnowledgeBase, actor: User | None, name: str, params: dict[str, Any], *, inline: bool) -> Job:
    title = _("Entries from %(file)s") % {"file": name[:150]}
    with transaction.atomic():
        params = {"base": base.pk, **params}
        return jobs.start(KIND, title, scope=scope_of(base), actor=actor, params=params, inline=inline)
