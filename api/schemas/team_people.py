"""Invitations and managers of cohorts, as they are sent and taken."""

from rest_framework import serializers as s


class InvitationLine(s.Serializer):
    id = s.IntegerField()
    cohort = s.IntegerField(allow_null=True, help_text="Null: to the team.")
    team_role = s.CharField(allow_blank=True, help_text="member or admin of the team; empty: to a cohort alone.")
    email = s.CharField(allow_blank=True)
    note = s.CharField(allow_blank=True)
    state = s.CharField(help_text="open, used, revoked or expired.")
    created_at = s.DateTimeField()
    expires_at = s.DateTimeField()


class ManagerLine(s.Serializer):
    id = s.IntegerField()
    name = s.CharField()
    email = s.CharField()


class NewManager(s.Serializer):
    email = s.EmailField(max_length=254, help_text="Of somebody who is or was of the team.")
