"""Endpoints of a team: created, changed, checked. A key goes in and never comes out."""

from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.contents import check_form, form_data
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.schemas import endpoints as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from people.access import team_for
from people.models import Team, User
from predictions.access import endpoint_for
from predictions.forms.endpoints import FIELDS, EndpointForm, SecretForm
from predictions.models import Endpoint
from predictions.services.endpoints import endpoints

LIMITS = {"most_in_flight": 8, "timeout_seconds": 120}


class EndpointList(ResourceView):
    @operation("endpoints", "Endpoints of a team", parameters=PAGING, reply=page_of_shape(shapes.EndpointLine))
    def get(self, request: Request, team: str) -> Response:
        owner = team_for(request.user, team)
        rows = owner.endpoints.all()
        return page_of(request, rows, "endpoints", lambda page: [endpoint_json(row) for row in page], owner.pk)

    @operation("endpoint_create", "Create an endpoint; its secret is never sent", scope="admin",
               body=shapes.NewEndpoint, reply=shapes.EndpointLine, status=201)  # fmt: skip
    def post(self, request: Request, team: str) -> Response:
        endpoint = create(team_for(request.user, team, admin=True), self.content, request.user)
        location = reverse("api:endpoint", args=[team, endpoint.pk])
        return with_etag(request, endpoint_json(endpoint), 201, location)


class EndpointDetail(ResourceView):
    @operation("endpoint", "One endpoint", reply=shapes.EndpointLine)
    def get(self, request: Request, team: str, endpoint_id: int) -> Response:
        return with_etag(request, endpoint_json(endpoint_for(team_for(request.user, team), endpoint_id)))

    @operation("endpoint_update", "Change an endpoint, set its secret, or retire it", scope="admin",
               body=shapes.EndpointChange, reply=shapes.EndpointLine)  # fmt: skip
    def patch(self, request: Request, team: str, endpoint_id: int) -> Response:
        owner = team_for(request.user, team, admin=True)
        endpoint = endpoint_for(owner, endpoint_id)
        check_match(request, endpoint_json(endpoint))
        change(endpoint, self.content, request.user)
        return with_etag(request, endpoint_json(endpoint_for(owner, endpoint_id)))


class EndpointCheck(ResourceView):
    @operation("endpoint_check", "Ask the server which models it has; with a model, also what it can do",
               scope="admin", body=shapes.NewCheck, reply=shapes.CheckResult, asks_others=True)  # fmt: skip
    def post(self, request: Request, team: str, endpoint_id: int) -> Response:
        endpoint = endpoint_for(team_for(request.user, team, admin=True), endpoint_id)
        checked = endpoints.check(endpoint, request.user, timezone.now(), self.content.get("model", ""))
        names = ("works", "answered", "models", "words", "offers", "model")
        return Response({name: getattr(checked, name) for name in names})


@sensitive_variables("content", "key")
def create(team: Team, content: dict[str, Any], user: User) -> Endpoint:
    """Raises Refused and EndpointRefused."""
    kind, at = content.get("kind", Endpoint.Kind.OPENAI), timezone.now()
    form = EndpointForm(form_data({**LIMITS, **content, "kind": kind}), kind=kind)
    key = SecretForm(form_data({"secret": content.get("secret", "")}))
    check_form(form)
    secret = check_form(key)["secret"]
    endpoint = endpoints.create(team, user, at, **form.endpoint_values())
    if secret:
        endpoints.set_secret(endpoint, secret, user, at)
    return endpoint


@sensitive_variables("content", "key")
def change(endpoint: Endpoint, content: dict[str, Any], user: User) -> None:
    """Raises Refused and EndpointRefused."""
    at = timezone.now()
    if set(content) & set(FIELDS):
        values = {name: getattr(endpoint, name) for name in FIELDS} | content
        form = EndpointForm(form_data(values), endpoint=endpoint)
        check_form(form)
        endpoints.change(endpoint, user, at, **form.endpoint_values())
    if "secret" in content:
        key = SecretForm(form_data({"secret": content["secret"]}))
        endpoints.set_secret(endpoint, check_form(key)["secret"], user, at)
    if content.get("retired"):
        endpoints.retire(endpoint, user, at)


def endpoint_json(endpoint: Endpoint) -> dict[str, Any]:
    facts = {name: getattr(endpoint, name) for name in (*FIELDS, "created_at", "retired_at")}
    return {"id": endpoint.pk, **facts, "has_secret": bool(endpoint.secret)}
