"""A list of people in an upload: those who have an address are invited to a cohort by letters, which a job writes."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request

from api.protocol.authentication import ScopeMissing, has_scope
from api.protocol.contents import refused
from benchmarks.models import Benchmark
from benchmarks.services.storage import open_binary
from jobs.models import Job
from people.access import may_manage
from people.models import Cohort
from people.services.inviting import invite_import, invite_lists
from people.services.inviting.invite_lists import InviteList

MOST_BYTES = 200_000  # as the form of the page


def start_people(request: Request, benchmark: Benchmark, content: dict[str, Any], table: Any) -> Job:
    """Raises ScopeMissing and Refused."""
    cohort, text, _listed = _read(request, benchmark, content, table)
    return invite_import.start(cohort, request.user, text, request.build_absolute_uri("/"))


def people_preview_json(request: Request, benchmark: Benchmark, content: dict[str, Any], table: Any) -> dict[str, Any]:
    """Raises ScopeMissing and Refused."""
    _cohort, _text, listed = _read(request, benchmark, content, table)
    return {
        "format": "csv", "encoding": "", "separator": "", "sheet": "", "needs_mapping": False, "columns": [],
        "mapping": {},
        "rows": [
            {"row": str(row.number), "email": row.email, "note": row.note, "problem": invite_import.problem_of(row)}
            for row in listed.lines
        ],
    }  # fmt: skip


def _read(
    request: Request, benchmark: Benchmark, content: dict[str, Any], table: Any
) -> tuple[Cohort, str, InviteList]:
    if not has_scope(request, "admin"):
        raise ScopeMissing("admin")
    cohort = Cohort.objects.filter(team=benchmark.team, label=content.get("cohort", "")).select_related("team").first()
    if cohort is None or not may_manage(request.user, cohort):
        raise refused("cohort", _("You manage no cohort of this name in the team."))
    if table is None:
        raise refused("table", _("Name the upload that holds the table."))
    with open_binary(table.stored) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise refused("table", _("This file is larger than 200 KB. Split it into smaller files."))
    try:
        text = invite_lists.decode_upload(data)
    except UnicodeDecodeError as error:
        raise refused("table", _("The file is not UTF-8. Save it as CSV in UTF-8.")) from error
    listed = invite_lists.parse_list(text, cohort, timezone.now())
    if listed.problem:
        raise refused("table", listed.problem)
    return cohort, text, listed
