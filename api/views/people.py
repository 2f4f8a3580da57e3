"""Who asks, and teams with their cohorts, members and invitations."""

from typing import Any

from django.db.models import Count, Q
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.services.campaigns.membership_end import end_membership_and_release
from api.protocol.authentication import has_scope
from api.protocol.contents import check_form, form_data
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.schemas import people as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from people import access
from people.forms.teams import CohortForm
from people.models import ApiToken, Cohort, CohortMember, Team, User
from people.services import cohorts, memberships
from people.services.inviting import invite_lists
from people.views.request_helpers import link_maker

FORM_FIELDS = ("label", "names", "country", "languages", "direction", "time_zone")
ACTIVE = Count("members", filter=Q(members__left_at=None, members__user__is_active=True))


class MeView(ResourceView):
    spans = True

    @operation("me", "Who asks, and what the token allows", scope="", reply=shapes.MeSerializer)
    def get(self, request: Request) -> Response:
        token, user = request.auth, request.user
        shown: dict[str, Any] | None = None
        if isinstance(token, ApiToken):
            shown = {"name": token.name, "scopes": token.scopes, "benchmarks": token.benchmark_ids}
            shown["expires_at"] = token.expires_at
        return Response({"name": user.name, "language": user.language, "time_zone": user.time_zone, "token": shown})


class MyTokenView(ResourceView):
    spans = True

    @operation("me_token", "The token that asks: its scopes, its end, and requests left", scope="",
               reply=shapes.MyTokenSerializer)  # fmt: skip
    def get(self, request: Request) -> Response:
        token = request.auth
        if not isinstance(token, ApiToken):
            return Response({"token": None})
        names = ("name", "prefix", "scopes", "created_at", "last_used_at", "expires_at")
        left = [limit.left for limit in getattr(request, "rate_limits", ())]
        more = {"benchmarks": token.benchmark_ids, "requests_left": min(left, default=None), "rate": token.rate}
        return Response({"token": {name: getattr(token, name) for name in names} | more})


class TeamList(ResourceView):
    @operation("teams", "Your teams", parameters=PAGING, reply=page_of_shape(shapes.TeamSerializer))
    def get(self, request: Request) -> Response:
        rows = access.visible_teams(request.user)
        return page_of(request, rows, "teams", lambda page: [team_json(team) for team in page])


class CohortList(ResourceView):
    @operation("cohorts", "Cohorts of a team", parameters=PAGING, reply=page_of_shape(shapes.CohortSerializer))
    def get(self, request: Request, team: str) -> Response:
        owner = access.team_for(request.user, team)
        rows = Cohort.objects.filter(team=owner).annotate(active=ACTIVE)
        return page_of(request, rows, "cohorts", lambda page: [cohort_json(row) for row in page], owner.pk)

    @operation(
        "cohort_create",
        "Create a cohort",
        scope="admin",
        body=shapes.NewCohort,
        reply=shapes.CohortSerializer,
        status=201,
    )
    def post(self, request: Request, team: str) -> Response:
        owner = access.team_for(request.user, team, admin=True)
        form = CohortForm(form_values(self.content, Cohort(team=owner)), team=owner, naming=True)
        check_form(form)
        cohort = cohorts.create_cohort(owner, form.data_for_service, request.user)
        return with_etag(request, cohort_json(cohort), 201, reverse("api:cohort", args=[team, cohort.pk]))


class CohortDetail(ResourceView):
    @operation("cohort", "One cohort", reply=shapes.CohortSerializer)
    def get(self, request: Request, team: str, cohort_id: int) -> Response:
        return with_etag(request, cohort_json(cohort_of(request.user, team, cohort_id)))

    @operation(
        "cohort_update",
        "Change a cohort, or pause it",
        scope="admin",
        body=shapes.CohortChange,
        reply=shapes.CohortSerializer,
    )
    def patch(self, request: Request, team: str, cohort_id: int) -> Response:
        cohort = cohort_of(request.user, team, cohort_id, manage=True)
        Cohort.objects.select_for_update().get(pk=cohort.pk)
        check_match(request, cohort_json(cohort_of(request.user, team, cohort_id, manage=True)))
        change(cohort, self.content, request.user)
        return with_etag(request, cohort_json(cohort_of(request.user, team, cohort_id, manage=True)))


def change(cohort: Cohort, content: dict[str, Any], user: User) -> None:
    """Raises Refused."""
    naming = access.may_name_managers(user, cohort.team)
    form = CohortForm(form_values(content, cohort), instance=cohort, team=cohort.team, naming=naming)
    check_form(form)
    cohorts.update_cohort(cohort, form.data_for_service, user)
    if content.get("paused") is True:
        cohorts.pause(cohort, user, timezone.now())
    elif content.get("paused") is False:
        cohorts.resume(cohort, user)


def form_values(content: dict[str, Any], cohort: Cohort) -> Any:
    """As the form of the page has them: what was not sent stays."""
    values = {name: content.get(name, getattr(cohort, name)) for name in FORM_FIELDS}
    values["names"] = "\n".join(f"{code}: {name}" for code, name in values["names"].items())
    values["languages"] = " ".join(values["languages"])
    return form_data(values)


class MemberList(ResourceView):
    @operation(
        "cohort_members", "Members: with names for who manages the cohort by the scope admin, else as pseudonyms",
        parameters=PAGING, reply=page_of_shape(shapes.MemberSerializer),
    )  # fmt: skip
    def get(self, request: Request, team: str, cohort_id: int) -> Response:
        cohort, named = cohort_of(request.user, team, cohort_id), may_read_names(request, team, cohort_id)
        rows = cohort.members.select_related("user")
        return page_of(
            request, rows, "members", lambda page: [member_json(row, named=named) for row in page], cohort.pk
        )


class MemberDetail(ResourceView):
    def member(
        self, request: Request, team: str, cohort_id: int, member_id: int, *, manage: bool = False
    ) -> CohortMember:
        cohort = cohort_of(request.user, team, cohort_id, manage=manage)
        member = cohort.members.select_related("user", "cohort").filter(pk=member_id).first()
        if member is None:
            raise Http404
        return member

    @operation("cohort_member", "One membership; as a pseudonym without the scope admin", reply=shapes.MemberSerializer)
    def get(self, request: Request, team: str, cohort_id: int, member_id: int) -> Response:
        member, named = self.member(request, team, cohort_id, member_id), may_read_names(request, team, cohort_id)
        return with_etag(request, member_json(member, named=named))

    @operation(
        "cohort_member_end", "End a membership; its answers stay", scope="admin", reply=shapes.MemberSerializer
    )  # fmt: skip
    def delete(self, request: Request, team: str, cohort_id: int, member_id: int) -> Response:
        member = self.member(request, team, cohort_id, member_id, manage=True)
        check_match(request, member_json(member))
        end_membership_and_release(member, request.user, timezone.now())
        return with_etag(request, member_json(self.member(request, team, cohort_id, member_id, manage=True)))


class InvitationList(ResourceView):
    @operation(
        "invitations_create",
        "Invite people to a cohort; each link is sent once",
        scope="admin",
        body=shapes.NewInvitations,
        reply=shapes.InvitationResults,
        needs_key=True,
        secrets=("link",),
    )
    def post(self, request: Request, team: str) -> Response:
        access.team_for_inviting(request.user, team)
        cohort = cohort_of(request.user, team, self.content["cohort"], manage=True)
        people = [(person.get("email", ""), person.get("note", "")) for person in self.content["people"]]
        at = timezone.now()
        rows = invite_lists.check_people(people, cohort, at)
        valid = [(row.email, row.note) for row in rows if not row.problem]
        invited = iter(invite_lists.invite_all(cohort, request.user, valid, link_maker(request._request), at))
        return Response({"results": [_invitation_result(row, invited) for row in rows]})


def _invitation_result(row: invite_lists.InviteRow, invited: Any) -> dict[str, Any]:
    if row.problem:
        return {"index": row.number, "status": 422, "problem": {"code": "refused", "detail": row.problem}}
    invitation, link = next(invited)
    return {"index": row.number, "status": 201, "id": invitation.pk, "link": link}


def cohort_of(user: User, team: str, cohort_id: int, *, manage: bool = False) -> Cohort:
    """A cohort of this team. Raises Http404."""
    cohort = access.cohort_for(user, cohort_id, manage=manage)
    if cohort.team.slug != team:
        raise Http404
    return cohort


def may_read_names(request: Request, team: str, cohort_id: int) -> bool:
    """Whether the person manages the cohort, and the token says so."""
    if not has_scope(request, "admin"):
        return False
    try:
        cohort_of(request.user, team, cohort_id, manage=True)
    except Http404:
        return False
    return True


def team_json(team: Team) -> dict[str, Any]:
    address = reverse("api:cohorts", args=[team.slug])
    return {"id": team.pk, "slug": team.slug, "name": team.name, "cohorts": address}


def cohort_json(cohort: Cohort) -> dict[str, Any]:
    active = getattr(cohort, "active", None)
    members = memberships.active_members(cohort).count() if active is None else active
    facts = {name: getattr(cohort, name) for name in FORM_FIELDS}
    return {"id": cohort.pk, **facts, "paused": cohort.paused_at is not None, "members": members}


def member_json(member: CohortMember, *, named: bool = True) -> dict[str, Any]:
    user = {"name": member.user.name, "email": member.user.email} if named else {"name": None, "email": None}
    name = f"member-{member.pk}"
    return {"id": member.pk, "pseudonym": name, **user, "joined_at": member.joined_at, "left_at": member.left_at}
