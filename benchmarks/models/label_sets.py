from django.db import models
from django.utils.translation import gettext_lazy as _


class LabelSet(models.Model):
    """One version of a team's set of labels. A version never changes: a change of content makes the next one."""

    class Kind(models.TextChoices):
        COUNTRIES = "countries", _("Countries")
        REGIONS = "regions", _("Regions")
        CULTURES = "cultures", _("Cultures")
        RELIGIONS = "religions", _("Religions")
        LANGUAGES = "languages", _("Languages")
        OTHER = "other", _("Other")

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="label_sets")
    key = models.SlugField(max_length=80)
    version = models.PositiveIntegerField()
    name = models.CharField(_("name"), max_length=120)
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.OTHER)
    source = models.CharField(_("source"), max_length=300, blank=True)
    licence = models.CharField(_("licence"), max_length=120, blank=True)
    digest = models.CharField(max_length=64, help_text="Of the content, see benchmarks.rules.label_sets.contract.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["key", "-version"]
        constraints = [models.UniqueConstraint(fields=["team", "key", "version"], name="label_set_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def reference(self) -> str:
        """As selections, files and item contexts name a version."""
        return f"{self.key}@{self.version}"


class Label(models.Model):
    """A label of a set. The fields are those of benchmarks.rules.label_sets.contract.LabelSpec."""

    label_set = models.ForeignKey(LabelSet, models.PROTECT, related_name="labels", db_index=False)
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    text = models.CharField(max_length=120)
    names = models.JSONField(default=dict, blank=True)
    country = models.CharField(max_length=2, blank=True)
    continent = models.CharField(max_length=60, blank=True)
    region = models.CharField(max_length=120, blank=True)
    values_zone = models.CharField(max_length=60, blank=True)
    western = models.BooleanField(null=True, blank=True)
    aliases = models.JSONField(default=list, blank=True)
    about = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["label_set", "key"], name="label_key_once"),
            models.UniqueConstraint(fields=["label_set", "text"], name="label_text_once"),
        ]

    def __str__(self) -> str:
        return self.text


class CohortLabel(models.Model):
    """The label of a set that a cohort's people belong to: models asked about it answer the cohort's own items."""

    cohort = models.ForeignKey("people.Cohort", models.PROTECT, related_name="labels", db_index=False)
    label_set = models.ForeignKey(LabelSet, models.PROTECT, related_name="+")
    label = models.ForeignKey(Label, models.PROTECT, related_name="cohorts")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cohort", "label_set"], name="cohort_label_of_set_once")]

    def __str__(self) -> str:
        return f"{self.cohort} is {self.label}"
