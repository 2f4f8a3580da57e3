from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Benchmark, Role
from people.forms.base import StyledFormMixin
from people.models import User


class PersonChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: User) -> str:
        return f"{obj.name} ({obj.get_sign_in_display() if obj.is_service else obj.email})"


class AddRoleForm(StyledFormMixin, forms.Form):
    """A member of the team who has no role here yet."""

    user = PersonChoice(label=_("Team member"), queryset=User.objects.none(), empty_label=None)
    name = forms.ChoiceField(label=_("Role"), choices=Role.Name.choices, initial=Role.Name.RESEARCHER)

    def __init__(self, *args: object, benchmark: Benchmark, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        members = User.objects.filter(team_memberships__team=benchmark.team, is_active=True)
        without = members.exclude(benchmark_roles__benchmark=benchmark).order_by("name", "pk")
        self.fields["user"].queryset = without  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        user = data.get("user")
        if user is not None and user.is_service and data.get("name") == Role.Name.REVIEWER:
            self.add_error("name", _("A service account cannot review. Choose another role."))
        return data
