import hashlib
import hmac

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _


class Benchmark(models.Model):
    """A body of items with a purpose. Its stage rows are the truth; the recipe only wrote them."""

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="benchmarks")
    name = models.CharField(_("name"), max_length=120)
    slug = models.SlugField(unique=True)
    purpose = models.TextField(_("purpose"), blank=True)
    recipe = models.CharField(max_length=60, blank=True)
    recipe_version = models.CharField(max_length=20, blank=True)
    saved_recipe = models.SlugField(
        max_length=60, blank=True, db_default="", help_text="Key of the team's own recipe that it was made of, if any."
    )
    citation = models.TextField(blank=True)
    licence = models.CharField(max_length=120, blank=True)
    card = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True,
        help_text="{section: text} of releases: what nobody can count. See releases.descriptions.sections.",
    )  # fmt: skip
    authors = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField()), blank=True,
        help_text="[{family, given} or {name}, with orcid and affiliation]: see releases.descriptions.authors.",
    )  # fmt: skip
    answers_by_api = models.BooleanField(
        default=False, db_default=False, help_text="People may answer by programs, whose time cannot be measured."
    )
    is_public = models.BooleanField(
        default=False, db_default=False, help_text="Everybody may see its public page: sums and agreement, no answers."
    )
    pseudonym_key = models.CharField(max_length=64, editable=False, help_text="Secret; made when the benchmark is.")
    imported = models.BooleanField(
        default=False, db_default=False, help_text="It came from a release: its raters keep their pseudonyms."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="benchmark_has_pseudonym_key", condition=~models.Q(pseudonym_key=""))
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scope(self) -> str:
        """Where this benchmark's jobs and events are filed."""
        return f"benchmark:{self.pk}"

    def pseudonym(self, rater_id: int) -> str:
        """The rater's name in this benchmark's pages and exports: stable inside it, unlinkable outside."""
        if self.imported and (name := self._rater_names.get(rater_id)):
            return name
        digest = hmac.new(self.pseudonym_key.encode(), str(rater_id).encode(), hashlib.sha256).hexdigest()
        return f"R-{digest[:12]}"

    def read_rater_names(self) -> None:
        """Read what `pseudonym` needs. While rows are streamed their connection takes no other query."""
        if self.imported:
            self._rater_names  # noqa: B018

    @cached_property
    def _rater_names(self) -> dict[int, str]:
        """Of those who came with the release, read once for each object."""
        return dict(self.rater_names.values_list("rater_id", "name"))


class RaterName(models.Model):
    """The pseudonym that a rater without an account had in the release that they came with."""

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="rater_names", db_index=False)
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="+")
    name = models.CharField(max_length=40)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "rater"], name="rater_name_of_rater_once"),
            models.UniqueConstraint(fields=["benchmark", "name"], name="rater_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Role(models.Model):
    """What a team member may do in one benchmark. Annotators need no row: cohort membership makes them."""

    class Name(models.TextChoices):
        OWNER = "owner", _("Owner")
        RESEARCHER = "researcher", _("Researcher")
        REVIEWER = "reviewer", _("Reviewer")

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="roles")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="benchmark_roles")
    name = models.CharField(max_length=12, choices=Name)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "user"], name="role_once")]

    def __str__(self) -> str:
        return f"{self.user} is {self.name} of {self.benchmark}"


class Stage(models.Model):
    """One step of a benchmark. `display`, `sheet` and `rules` are read through types, never as raw JSON."""

    class Acceptance(models.TextChoices):
        ON_SUBMIT = "on_submit", _("Accepted when submitted")
        BY_RULE = "by_rule", _("Accepted by a rule")
        BY_REVIEW = "by_review", _("Accepted by a reviewer")

    class Staffing(models.TextChoices):
        ANYONE = "anyone", _("Anyone")
        OTHERS = "others", _("Only people who did not contribute to the item")
        CONTRIBUTORS = "contributors", _("Only people who contributed to the item")
        NOT_OWN = "not_own", _("Only people whose question or answer it is not")

    class Pictures(models.TextChoices):
        NONE = "none", _("None")
        OPTIONAL = "optional", _("One or none")
        ONE = "one", _("One")
        NAMED = "named", _("Several, each with a role")
        SET = "set", _("Any number")

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="stages")
    key = models.SlugField(max_length=60)
    name = models.CharField(_("name"), max_length=120)
    position = models.PositiveSmallIntegerField(default=0)
    display = models.CharField(max_length=40)
    sheet = models.JSONField(help_text="See annotation.sheets.sheet.Sheet.")
    skip_reasons = models.JSONField(default=list, help_text="[{code, label: {language: text}}]")
    has_target = models.BooleanField(default=True, help_text="The cohort's own label is part of the unit.")
    target_answers = models.PositiveSmallIntegerField(default=3)
    target_in_all = models.BooleanField(
        default=False, db_default=False, help_text="The answers wanted are those of all cohorts together."
    )
    acceptance = models.CharField(max_length=12, choices=Acceptance, default=Acceptance.ON_SUBMIT)
    acceptance_rule = models.JSONField(default=dict, blank=True, help_text="See benchmarks.rules.acceptance.Rule.")
    review_reasons = models.JSONField(default=list, blank=True, help_text="[{code, label: {language: text}}]")
    derivation = models.JSONField(default=dict, blank=True, help_text="See benchmarks.rules.derivations.Derivation.")
    staffing = models.CharField(max_length=14, choices=Staffing, default=Staffing.ANYONE)
    own_items_only = models.BooleanField(default=False, help_text="A cohort gets only items of its own culture.")
    layout = models.JSONField(default=dict, blank=True, help_text="See annotation.displays.layout.Layout.")
    pictures = models.CharField(max_length=8, choices=Pictures, default=Pictures.ONE, help_text="Of an item.")
    retire_after_skips = models.PositiveSmallIntegerField(null=True, blank=True, help_text="In one cohort.")
    instructions = models.JSONField(default=dict, help_text="{language: text}, what a campaign starts with.")
    filters = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField()), blank=True,
        help_text="See benchmarks.rules.filters.registry; the newest FilterVersion holds the same.",
    )  # fmt: skip
    assign_waiting = models.BooleanField(
        default=False, db_default=False, help_text="Items that wait for a fact are offered to people."
    )
    coverage = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True,
        help_text="See benchmarks.rules.coverage.CoverageSpec.",
    )  # fmt: skip
    version = models.PositiveIntegerField(default=1, help_text="Grows with every published change.")
    changes = models.BigIntegerField(
        default=0, db_default=0, help_text="Grows with every item that is derived, withdrawn or restored."
    )

    class Meta:
        ordering = ["position", "pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "key"], name="stage_key_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def asks_own_culture(self) -> bool:
        """Whether each cohort is asked about its own culture, so that cohorts share no unit."""
        return self.has_target or self.own_items_only
