"""Who may do what: roles in a benchmark, and members of a team. By the rules of their pages."""

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
from api.protocol.problems import Refused
from api.schemas import memberships as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import benchmark_for
from benchmarks.forms.roles import AddRoleForm
from benchmarks.models import Benchmark, Role
from benchmarks.services.roles import remove_role, set_role
from people.access import team_for
from people.forms.teams import InviteToTeamForm
from people.models import Team, TeamMember, User
from people.services import teams
from people.services.inviting import invite_lists
from people.views.request_helpers import link_maker


class RoleList(ResourceView):
    @operation("members", "Roles in a benchmark", scope="admin", parameters=PAGING,
               reply=page_of_shape(shapes.RoleLine))  # fmt: skip
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="roles")
        rows = benchmark.roles.select_related("user")
        return page_of(request, rows, "roles", lambda page: [role_json(row) for row in page], benchmark.pk)

    @operation("member_create", "Give a member of the team a role", scope="admin", body=shapes.NewRole,
               reply=shapes.RoleLine, status=201)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="roles")
        form = AddRoleForm(
            form_data({"user": _member_id(benchmark, self.content), "name": self.content["role"]}),
            benchmark=benchmark,
        )
        data = check_form(form)
        row = set_role(benchmark, data["user"], Role.Name(data["name"]), request.user)
        return with_etag(request, role_json(row), 201, reverse("api:member", args=[slug, row.pk]))


def _member_id(benchmark: Benchmark, content: dict[str, Any]) -> int:
    """Raises Refused, with the same words for a stranger and for an address without an account."""
    members = User.objects.filter(team_memberships__team=benchmark.team, is_active=True)
    name = "email" if "email" in content else "service_account"
    if name == "email":
        members = members.filter(email__iexact=content["email"], sign_in=User.SignIn.ACCOUNT)
    else:
        members = members.filter(pk=content.get(name, 0), sign_in=User.SignIn.SERVICE)
    member = members.values_list("pk", flat=True).first()
    if member is None:
        text = _("Only members of the team can have a role.")
        raise Refused(text, errors=[problem(f"/{name}", "unknown", text)])
    return member


class RoleDetail(ResourceView):
    def role(self, request: Request, slug: str, role_id: int) -> Role:
        benchmark = benchmark_for(request.user, slug, can="roles")
        role = benchmark.roles.select_related("user").filter(pk=role_id).first()
        if role is None:
            raise Http404
        role.benchmark = benchmark
        return role

    @operation("member", "One role", scope="admin", reply=shapes.RoleLine)
    def get(self, request: Request, slug: str, role_id: int) -> Response:
        return with_etag(request, role_json(self.role(request, slug, role_id)))

    @operation("member_update", "Change a role", scope="admin", body=shapes.RoleChange, reply=shapes.RoleLine)
    def patch(self, request: Request, slug: str, role_id: int) -> Response:
        role = self.role(request, slug, role_id)
        check_match(request, role_json(role))
        changed = set_role(role.benchmark, role.user, Role.Name(self.content["role"]), request.user)
        return with_etag(request, role_json(changed))

    @operation("member_delete", "Take a role away", scope="admin", reply=shapes.RoleLine)
    def delete(self, request: Request, slug: str, role_id: int) -> Response:
        role = self.role(request, slug, role_id)
        check_match(request, role_json(role))
        remove_role(role.benchmark, role.user, request.user)
        return Response(role_json(role))


class TeamMemberList(ResourceView):
    @operation("team_members", "Members of a team", scope="admin", parameters=PAGING,
               reply=page_of_shape(shapes.TeamMemberLine))  # fmt: skip
    def get(self, request: Request, team: str) -> Response:
        owner = team_for(request.user, team)
        rows = owner.members.filter(user__sign_in=User.SignIn.ACCOUNT).select_related("user")
        return page_of(request, rows, "team_members", lambda page: [team_member_json(row) for row in page], owner.pk)

    @operation("team_member_create", "Invite somebody to a team; the link is sent once", scope="admin",
               body=shapes.NewTeamMember, reply=shapes.TeamInvitation, status=201, secrets=("link",))  # fmt: skip
    def post(self, request: Request, team: str) -> Response:
        owner = team_for(request.user, team, admin=True)
        role = self.content.get("role", TeamMember.Role.MEMBER)
        form = InviteToTeamForm(form_data({"email": "", "note": "", **self.content, "team_role": role}))
        data = check_form(form)
        person, at = (data["email"], data["note"]), timezone.now()
        link = link_maker(request._request)
        invitation, address = invite_lists.invite_to_team(owner, request.user, data["team_role"], person, link, at)
        return Response({"id": invitation.pk, "link": address}, status=201)


class TeamMemberDetail(ResourceView):
    def member(self, request: Request, team: str, member_id: int, *, admin: bool = True) -> TeamMember:
        owner: Team = team_for(request.user, team, admin=admin)
        members = owner.members.filter(user__sign_in=User.SignIn.ACCOUNT).select_related("user")
        member = members.filter(pk=member_id).first()
        if member is None:
            raise Http404
        return member

    @operation("team_member", "One member of a team", scope="admin", reply=shapes.TeamMemberLine)
    def get(self, request: Request, team: str, member_id: int) -> Response:
        return with_etag(request, team_member_json(self.member(request, team, member_id, admin=False)))

    @operation("team_member_update", "Change a member's role in the team", scope="admin",
               body=shapes.TeamMemberChange, reply=shapes.TeamMemberLine)  # fmt: skip
    def patch(self, request: Request, team: str, member_id: int) -> Response:
        member = self.member(request, team, member_id)
        check_match(request, team_member_json(member))
        teams.change_role(member, TeamMember.Role(self.content["role"]), request.user, timezone.now())
        member.refresh_from_db()
        return with_etag(request, team_member_json(member))

    @operation("team_member_delete", "End somebody's membership of a team", scope="admin",
               reply=shapes.TeamMemberLine)  # fmt: skip
    def delete(self, request: Request, team: str, member_id: int) -> Response:
        member = self.member(request, team, member_id)
        ended = team_member_json(member)
        check_match(request, ended)
        teams.remove_member(member, request.user, timezone.now())
        return Response(ended)


def role_json(role: Role) -> dict[str, Any]:
    return {"id": role.pk, "name": role.user.name, "email": role.user.email, "role": role.name}


def team_member_json(member: TeamMember) -> dict[str, Any]:
    return {"id": member.pk, "name": member.user.name, "email": member.user.email, "role": member.role}
