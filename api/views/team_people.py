"""One team, its invitations, and who manages its cohorts. By the rules of their pages."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.contents import check_form, form_data
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.schemas import team_people as shapes
from api.schemas.pages import page_of_shape
from api.schemas.people import TeamSerializer
from api.views.base import ResourceView
from api.views.people import InvitationList, team_json
from people import access
from people.forms.teams import TeamPersonForm
from people.models import Cohort, CohortManager, Invitation, User
from people.services import links, memberships

NAMES = ("team_role", "email", "note", "created_at", "expires_at")


class TeamDetail(ResourceView):
    @operation("team", "One team", reply=TeamSerializer)
    def get(self, request: Request, team: str) -> Response:
        return with_etag(request, team_json(access.team_for(request.user, team)))


class TeamInvitationList(InvitationList):
    """The same address as the POST that invites."""

    @operation("invitations", "Invitations that you could have made, without their links", scope="admin",
               parameters=PAGING, reply=page_of_shape(shapes.InvitationLine))  # fmt: skip
    def get(self, request: Request, team: str) -> Response:
        owner = access.team_for_inviting(request.user, team)
        rows = access.invitations_of(request.user, owner)
        return page_of(request, rows, "invitations", lambda page: [invitation_json(row) for row in page], owner.pk)


class InvitationDetail(ResourceView):
    def invitation(self, request: Request, team: str, invitation_id: int) -> Invitation:
        row = access.invitation_for(request.user, invitation_id)
        if row.team.slug != team:
            raise Http404
        return row

    @operation("invitation", "One invitation", scope="admin", reply=shapes.InvitationLine)
    def get(self, request: Request, team: str, invitation_id: int) -> Response:
        return with_etag(request, invitation_json(self.invitation(request, team, invitation_id)))

    @operation("invitation_revoke", "Revoke an invitation: its link lets nobody in", scope="admin",
               reply=shapes.InvitationLine)  # fmt: skip
    def delete(self, request: Request, team: str, invitation_id: int) -> Response:
        row = self.invitation(request, team, invitation_id)
        check_match(request, invitation_json(row))
        links.revoke(row, request.user, timezone.now())
        return with_etag(request, invitation_json(self.invitation(request, team, invitation_id)))


class ManagerList(ResourceView):
    @operation("cohort_managers", "Who manages a cohort, for those who manage it", scope="admin", parameters=PAGING,
               reply=page_of_shape(shapes.ManagerLine))  # fmt: skip
    def get(self, request: Request, team: str, cohort_id: int) -> Response:
        cohort = of_team(access.cohort_for(request.user, cohort_id, manage=True), team)
        rows = cohort.managers.select_related("user")
        return page_of(request, rows, "managers", lambda page: [manager_json(row) for row in page], cohort.pk)

    @operation("cohort_manager_create", "Name a manager, as an admin of the team", scope="admin",
               body=shapes.NewManager, reply=shapes.ManagerLine, status=201)  # fmt: skip
    def post(self, request: Request, team: str, cohort_id: int) -> Response:
        cohort = of_team(access.cohort_to_staff(request.user, cohort_id), team)
        people = memberships.eligible_managers(cohort)
        data = check_form(TeamPersonForm(form_data(self.content), people=people, team=cohort.team))
        row = memberships.add_manager(cohort, data["somebody"], request.user)
        return with_etag(request, manager_json(row), 201, reverse("api:cohort_manager", args=[team, cohort.pk, row.pk]))


class ManagerDetail(ResourceView):
    def manager(self, user: User, team: str, cohort_id: int, manager_id: int, *, staff: bool = False) -> CohortManager:
        cohort = access.cohort_to_staff(user, cohort_id) if staff else access.cohort_for(user, cohort_id, manage=True)
        row = of_team(cohort, team).managers.select_related("user", "cohort").filter(pk=manager_id).first()
        if row is None:
            raise Http404
        return row

    @operation("cohort_manager", "One manager of a cohort", scope="admin", reply=shapes.ManagerLine)
    def get(self, request: Request, team: str, cohort_id: int, manager_id: int) -> Response:
        return with_etag(request, manager_json(self.manager(request.user, team, cohort_id, manager_id)))

    @operation("cohort_manager_delete", "Let somebody manage a cohort no longer", scope="admin",
               reply=shapes.ManagerLine)  # fmt: skip
    def delete(self, request: Request, team: str, cohort_id: int, manager_id: int) -> Response:
        row = self.manager(request.user, team, cohort_id, manager_id, staff=True)
        check_match(request, manager_json(row))
        memberships.remove_manager(row.cohort, row.user, request.user, timezone.now())
        return Response(manager_json(row))


def of_team(cohort: Cohort, slug: str) -> Cohort:
    """Raises Http404."""
    if cohort.team.slug != slug:
        raise Http404
    return cohort


def invitation_json(row: Invitation) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in NAMES}
    return {"id": row.pk, "cohort": row.cohort_id, "state": links.link_state(row, timezone.now()), **values}


def manager_json(row: CohortManager) -> dict[str, Any]:
    return {"id": row.pk, "name": row.user.name, "email": row.user.email}
