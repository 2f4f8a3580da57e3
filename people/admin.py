"""Django's admin for site admins. Members, consent, links and raters are only looked at; nothing is deleted here."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from jobs.views.model_admin import ReadOnlyAdmin, ReadOnlyInline, RecordingModelAdmin
from people.models import (
    Cohort,
    CohortManager,
    CohortMember,
    Consent,
    ConsentText,
    ConsentVersion,
    Invitation,
    Rater,
    SignInLink,
    Team,
    TeamMember,
    User,
)
from people.services import link_revocation
from people.views.request_helpers import current_user

RAISING = ("is_staff", "is_superuser", "groups", "user_permissions")
admin.site.unregister(Group)


@admin.register(User)
class PersonAdmin(RecordingModelAdmin, UserAdmin):  # type: ignore[type-arg]
    """Only a superuser raises somebody, or touches the account of a site admin: staff cannot raise itself."""

    ordering = ("email",)
    list_display = ("email", "name", "is_active", "is_staff", "simulated")
    list_filter = ("is_active", "is_staff", "simulated")
    search_fields = ("email", "name")
    readonly_fields = ("last_login", "created_at")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        (_("Person"), {"fields": ("name", "language", "time_zone", "simulated", "last_login", "created_at")}),
        (_("Permissions"), {"fields": ("is_active", "is_staff", "is_superuser")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "name", "usable_password", "password1", "password2")}),)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.readonly_fields if request.user.is_superuser else (*self.readonly_fields, *RAISING)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        raised = isinstance(obj, User) and (obj.is_staff or obj.is_superuser)
        return super().has_change_permission(request, obj) and (request.user.is_superuser or not raised)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Whoever was let in by a link that somebody else made is let out when the person is raised. Links of somebody
        who is lowered or switched off are revoked."""
        super().save_model(request, obj, form, change)
        changed = {*form.changed_data} if change else set()
        if {"is_staff", "is_superuser"} & changed:
            link_revocation.end_sessions_by_link(obj)
        if {"is_staff", "is_active"} & changed and not (obj.is_staff and obj.is_active):
            link_revocation.revoke_links_of_former_admin(obj, current_user(request), timezone.now())

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """The change itself is recorded by `log_change`, which Django calls."""
        response: HttpResponse = super().user_change_password(request, id, form_url)
        self._record_look(request, response, id, filter=["password"])
        return response


class MembersInline(ReadOnlyInline):
    model = TeamMember


@admin.register(Team)
class TeamAdmin(RecordingModelAdmin):
    list_display = ("name", "slug", "created_at")
    search_fields = ("name", "slug")
    inlines = (MembersInline,)


class ManagersInline(ReadOnlyInline):
    model = CohortManager


@admin.register(Cohort)
class CohortAdmin(RecordingModelAdmin):
    list_display = ("label", "team", "country", "direction", "time_zone")
    list_filter = ("team",)
    search_fields = ("label",)
    inlines = (ManagersInline,)


@admin.register(CohortMember)
class CohortMemberAdmin(ReadOnlyAdmin):
    list_display = ("user", "cohort", "joined_at", "left_at")
    list_filter = ("cohort",)
    search_fields = ("user__email", "user__name")


class TextsInline(ReadOnlyInline):
    model = ConsentText


@admin.register(ConsentVersion)
class ConsentVersionAdmin(ReadOnlyAdmin):
    list_display = ("team", "number", "published_at")
    inlines = (TextsInline,)


@admin.register(Consent)
class ConsentAdmin(ReadOnlyAdmin):
    list_display = ("user", "version", "language", "given_at", "withdrawn_at")
    search_fields = ("user__email", "user__name")


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("team", "cohort", "team_role", "created_by", "created_at", "expires_at", "used_at", "revoked_at")
    exclude = ("token_hash",)


@admin.register(SignInLink)
class SignInLinkAdmin(ReadOnlyAdmin):
    list_display = ("user", "created_by", "created_at", "expires_at", "used_at", "revoked_at")
    exclude = ("token_hash",)


@admin.register(Rater)
class RaterAdmin(ReadOnlyAdmin):
    list_display = ("pk", "kind", "user", "team", "name")
    list_filter = ("kind",)
