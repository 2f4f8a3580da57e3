"""Sets of labels of a team."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.contents import problem
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import with_etag
from api.protocol.problems import Refused
from api.schemas import label_sets as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import label_set_for, team_for_label_sets
from benchmarks.models import Label, LabelSet
from benchmarks.queries.label_sets import FIELDS, newest_sets
from benchmarks.rules.label_sets.contract import LabelSpec
from benchmarks.rules.label_sets.registry import is_reserved
from benchmarks.services.label_sets import import_set, keyed_labels
from people.models import Team, User

HEAD = ("key", "version", "name", "kind", "source", "licence", "created_at")


class LabelSetList(ResourceView):
    @operation(
        "label_sets", "Sets of labels of a team, every version", parameters=PAGING,
        reply=page_of_shape(shapes.LabelSetLine),
    )  # fmt: skip
    def get(self, request: Request, team: str) -> Response:
        owner = team_for_label_sets(request.user, team)
        rows = LabelSet.objects.filter(team=owner)
        return page_of(request, rows, "label_sets", lambda page: [head_json(row) for row in page], owner.pk)

    @operation("label_set_create", "A new set, or the next version of one", scope="write", body=shapes.NewLabelSet,
               reply=shapes.LabelSetSerializer, status=201)  # fmt: skip
    def post(self, request: Request, team: str) -> Response:
        owner = team_for_label_sets(request.user, team, edit=True)
        row = create(owner, self.content, request.user)
        return with_etag(request, label_set_json(row), 201, reverse("api:label_set", args=[team, row.pk]))


class LabelSetDetail(ResourceView):
    @operation("label_set", "One version of a set with its labels", reply=shapes.LabelSetSerializer)
    def get(self, request: Request, team: str, label_set_id: int) -> Response:
        owner = team_for_label_sets(request.user, team)
        return with_etag(request, label_set_json(label_set_for(owner, label_set_id)))


def create(team: Team, content: dict[str, Any], user: User) -> LabelSet:
    """Raises Refused and LabelSetError."""
    key, name = content.get("key", ""), content.get("name", "")
    own = {row.key: row for row in newest_sets(team) if not is_reserved(row.key)}
    if key and key not in own:
        text = _("The team has no set of its own with this key.")
        raise Refused(text, errors=[problem("/key", "unknown", text)])
    if not key and not name:
        text = _("Give the new set a name.")
        raise Refused(text, errors=[problem("/name", "required", text)])
    labels = keyed_labels([_label(entry) for entry in content["labels"]])
    more = {member: content.get(member, "") for member in ("source", "licence")}
    kind = content.get("kind", own[key].kind if key else LabelSet.Kind.OTHER)
    row, _is_new = import_set(team, own[key].name if key else name, labels, user, key=key, kind=kind, **more)
    return row


def _label(entry: dict[str, Any]) -> LabelSpec:
    values = {name: value for name, value in entry.items() if name not in ("aliases", "key")}
    return LabelSpec(key=entry.get("key", ""), aliases=tuple(entry.get("aliases", ())), **values)


def head_json(row: LabelSet) -> dict[str, Any]:
    return {"id": row.pk, **{name: getattr(row, name) for name in HEAD}}


def label_set_json(row: LabelSet) -> dict[str, Any]:
    return {**head_json(row), "labels": [_label_json(label) for label in row.labels.all()]}


def _label_json(label: Label) -> dict[str, Any]:
    return {name: getattr(label, name) for name in (*FIELDS, "aliases")}
