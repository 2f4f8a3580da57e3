import secrets

from django import forms
from django.db.models import QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Benchmark, SavedRecipe
from benchmarks.queries.saved_recipes import offered_recipes
from benchmarks.recipes.registry import RECIPES
from benchmarks.services.benchmarks import create_blank, create_from_recipe
from benchmarks.services.recipes.saved_recipes import create_from_saved
from people.forms.base import StyledFormMixin
from people.models import Team, User

BLANK = "blank"
SAVED = "saved:"
TAKEN = _("This address cannot be used. Choose another.")


class CreateForm(StyledFormMixin, forms.Form):
    """A recipe, or stages of one's own, perhaps beginning with a question."""

    recipe = forms.ChoiceField(label=_("Start from"), widget=forms.RadioSelect)
    name = forms.CharField(label=_("Name"), max_length=120)
    question = forms.CharField(
        label=_("First question (optional)"),
        max_length=300,
        required=False,
        help_text=_(
            "Only for a blank benchmark: a first stage asks it on five points. Write {target} where the name of the "
            "cohort belongs. Empty: you add the stages yourself."
        ),
    )
    slug = forms.SlugField(
        label=_("Address"),
        max_length=50,
        required=False,
        help_text=_("Small letters, digits and hyphens. If empty, it is derived from the name."),
    )
    team = forms.ModelChoiceField(label=_("Team"), queryset=Team.objects.none(), empty_label=None)

    def __init__(self, *args: object, teams: QuerySet[Team], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]
        self.saved = {f"{SAVED}{row.pk}": row for row in offered_recipes(teams)}
        own = [(value, row.name) for value, row in self.saved.items()]
        choices = [*((recipe.key, recipe.name) for recipe in RECIPES), *own, (BLANK, _("A blank benchmark"))]
        self.fields["recipe"].choices = choices  # type: ignore[attr-defined]
        self.fields["slug"].widget.attrs |= {"dir": "ltr", "autocapitalize": "none"}
        newest = teams.order_by("-pk").first()
        self.fields["team"].initial = newest.pk if newest else None
        if len(teams) == 1:
            self.fields["team"].widget = forms.HiddenInput()
            self.fields["team"].initial = teams[0].pk

    @property
    def saved_recipe(self) -> SavedRecipe | None:
        """The team's own recipe that was chosen."""
        return self.saved.get(str(self.cleaned_data.get("recipe", "")))

    def create(self, user: User) -> Benchmark:
        """Of a valid form. Raises SlugTaken, RecipeFileError."""
        data = self.cleaned_data
        if data["recipe"] == BLANK:
            return create_blank(data["team"], data["name"], data["slug"], user, question=data["question"])
        if self.saved_recipe is not None:
            return create_from_saved(self.saved_recipe, data["name"], data["slug"], user)
        return create_from_recipe(data["team"], data["recipe"], data["name"], data["slug"], user)

    def clean_team(self) -> Team:
        team: Team = self.cleaned_data["team"]
        if self.saved_recipe is not None and self.saved_recipe.team_id != team.pk:
            text = _(
                "This recipe is kept by the team “%(team)s”. Choose that team, or load the recipe's file for yours."
            )
            raise forms.ValidationError(text, params={"team": self.saved_recipe.team.name})
        return team

    def clean_slug(self) -> str:
        """A given address must be free; one made of the name gets a tail if it is not."""
        slug: str = self.cleaned_data["slug"].lower()
        if slug and not _is_free(slug):
            text = _("This address cannot be used; “%(free)s” is free.")
            raise forms.ValidationError(text, params={"free": free_slug(slug)})
        return slug or free_slug(slugify(self.cleaned_data.get("name", ""))[:40] or "benchmark")

    def clean_question(self) -> str:
        return str(self.cleaned_data["question"]).strip()


def _is_free(slug: str) -> bool:
    return not Benchmark.objects.filter(slug=slug).exists()


def free_slug(wanted: str) -> str:
    """The address itself, or with the first number behind it that is free."""
    tried = [wanted, *(f"{wanted[:45]}-{number}" for number in range(2, 10))]
    return next(filter(_is_free, tried), f"{wanted[:40]}-{secrets.token_hex(3)}")
