"""Roles in a benchmark and in a team, as they are sent and taken."""

from rest_framework import serializers as s

ROLES = ["owner", "researcher", "reviewer"]
TEAM_ROLES = ["member", "admin"]


class RoleLine(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    email = s.CharField(help_text="Empty for a service account.")
    role = s.CharField(help_text="owner, researcher or reviewer.")


class NewRole(s.Serializer):
    email = s.EmailField(max_length=254, required=False, help_text="Of a member of the team.")
    service_account = s.IntegerField(
        min_value=1, max_value=2**53, required=False, help_text="In place of `email`: its number. It reviews nothing."
    )
    role = s.ChoiceField(ROLES)


class RoleChange(s.Serializer):
    role = s.ChoiceField(ROLES)


class TeamMemberLine(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    email = s.CharField()
    role = s.CharField(help_text="member or admin.")


class NewTeamMember(s.Serializer):
    email = s.EmailField(max_length=254, required=False)
    note = s.CharField(max_length=200, required=False, allow_blank=True)
    role = s.ChoiceField(TEAM_ROLES, required=False, help_text="member without it.")


class TeamMemberChange(s.Serializer):
    role = s.ChoiceField(TEAM_ROLES)


class TeamInvitation(s.Serializer):
    id = s.IntegerField(help_text="Of the invitation; a member is made when it is taken.")
    link = s.CharField(allow_null=True, help_text="Sent once: null in a repeated reply.")
