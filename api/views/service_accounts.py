"""Service accounts of a team and their tokens, for the team's admins. By the rules of their pages."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.contents import check_form, form_data, problem
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import Conflict, Refused
from api.schemas import service_accounts as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from people import access
from people.models import ApiToken, User
from people.services import service_accounts as service
from people.services import tokens
from people.views.tokens import TokenForm

NAMES = ("name", "prefix", "scopes", "created_at", "last_used_at", "expires_at", "rate")


class ServiceAccountList(ResourceView):
    @operation("service_accounts", "Service accounts of a team", scope="admin", parameters=PAGING,
               reply=page_of_shape(shapes.ServiceAccountLine))  # fmt: skip
    def get(self, request: Request, team: str) -> Response:
        owner = access.team_for(request.user, team, admin=True)
        rows = access.service_accounts_of(owner)
        return page_of(request, rows, "service_accounts", lambda page: [account_json(row) for row in page], owner.pk)

    @operation("service_account_create", "Create a service account, which has no role yet", scope="admin",
               body=shapes.NewServiceAccount, reply=shapes.ServiceAccountLine, status=201)  # fmt: skip
    def post(self, request: Request, team: str) -> Response:
        owner = access.team_for(request.user, team, admin=True)
        row = service.create_service_account(owner, self.content["name"], request.user)
        return with_etag(request, account_json(row), 201, reverse("api:service_account", args=[team, row.pk]))


class ServiceAccountDetail(ResourceView):
    @operation("service_account", "One service account", scope="admin", reply=shapes.ServiceAccountLine)
    def get(self, request: Request, team: str, account_id: int) -> Response:
        _team, row = access.service_account_for(request.user, team, account_id)
        return with_etag(request, account_json(row))

    @operation("service_account_delete", "Delete a service account; its tokens are revoked", scope="admin",
               reply=shapes.ServiceAccountLine)  # fmt: skip
    def delete(self, request: Request, team: str, account_id: int) -> Response:
        owner, row = access.service_account_for(request.user, team, account_id)
        check_match(request, account_json(row))
        service.delete_service_account(owner, row, request.user, timezone.now())
        return Response(account_json(row))


class ServiceTokenList(ResourceView):
    @operation("service_tokens", "Active tokens of a service account", scope="admin", parameters=PAGING,
               reply=page_of_shape(shapes.ServiceTokenLine))  # fmt: skip
    def get(self, request: Request, team: str, account_id: int) -> Response:
        _team, row = access.service_account_for(request.user, team, account_id)
        rows = tokens.active_tokens(row, timezone.now())
        return page_of(request, rows, "service_tokens", lambda page: [token_json(token) for token in page], row.pk)

    @operation("service_token_create", "Create a token of a service account; it is sent once", scope="admin",
               body=shapes.NewServiceToken, reply=shapes.ServiceTokenDone, status=201, secrets=("token",))  # fmt: skip
    def post(self, request: Request, team: str, account_id: int) -> Response:
        _team, row = access.service_account_for(request.user, team, account_id)
        values = {"days": tokens.DEFAULT_DAYS, **self.content}
        form = TokenForm(form_data(values), user=row, scopes=service.SCOPES)
        if values.get("benchmarks") and "benchmarks" not in form.fields:
            text = _("The service account has no role in a benchmark yet.")
            raise Refused(text, errors=[problem("/benchmarks", "unknown", text)])
        check_form(form)
        try:
            token, text = form.create(row, timezone.now(), request.user)
        except tokens.TooManyTokens as error:
            raise Conflict(tokens.too_many_text()) from error
        return Response({**token_json(token), "token": text}, status=201)


class ServiceTokenDetail(ResourceView):
    def token(self, request: Request, team: str, account_id: int, token_id: int) -> ApiToken:
        _team, row = access.service_account_for(request.user, team, account_id)
        token = tokens.active_tokens(row, timezone.now()).filter(pk=token_id).first()
        if token is None:
            raise Http404
        return token

    @operation("service_token", "One active token of a service account", scope="admin", reply=shapes.ServiceTokenLine)
    def get(self, request: Request, team: str, account_id: int, token_id: int) -> Response:
        return with_etag(request, token_json(self.token(request, team, account_id, token_id)))

    @operation("service_token_revoke", "Revoke a token of a service account", scope="admin",
               reply=shapes.ServiceTokenLine, matched=False)  # fmt: skip
    def delete(self, request: Request, team: str, account_id: int, token_id: int) -> Response:
        token = self.token(request, team, account_id, token_id)
        tokens.revoke(token, request.user, timezone.now())
        return Response(token_json(token))


def account_json(row: User) -> dict[str, Any]:
    return {"id": row.pk, "name": row.name, "created_at": row.created_at}


def token_json(token: ApiToken) -> dict[str, Any]:
    values = {name: getattr(token, name) for name in NAMES}
    return {"id": token.pk, **values, "benchmarks": token.benchmark_ids}
