from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class SheetVersion(models.Model):
    """A frozen sheet. A wording fix is a minor version, and drafts survive it; changed codes are a major one."""

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="sheet_versions")
    major = models.PositiveSmallIntegerField()
    minor = models.PositiveSmallIntegerField()
    definition = models.JSONField(help_text="See annotation.sheets.sheet.Sheet.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "major", "minor"], name="sheet_version_once")]

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class RuleVersion(models.Model):
    """A frozen acceptance rule: answers and outcomes are stamped with its number."""

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="rule_versions")
    number = models.PositiveSmallIntegerField()
    definition = models.JSONField(help_text="See benchmarks.rules.acceptance.Rule.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "number"], name="rule_version_once")]

    def __str__(self) -> str:
        return f"rule {self.number}"


class Campaign(models.Model):
    """A stage opened to cohorts, with targets, dates, an instruction version and a frozen sheet."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        OPEN = "open", _("Open")
        PAUSED = "paused", _("Paused")
        CLOSED = "closed", _("Closed")

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="campaigns")
    name = models.CharField(_("name"), max_length=120)
    summary = models.CharField(_("what people are asked to do, in one sentence"), max_length=200, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    conditions = models.JSONField(default=list, help_text="Only items of these conditions; empty means all.")
    sheet_version = models.ForeignKey(SheetVersion, models.PROTECT, related_name="campaigns")
    rule_version = models.ForeignKey("annotation.RuleVersion", models.PROTECT, null=True, related_name="campaigns")
    opens_on = models.DateField(_("opens on"), null=True, blank=True)
    closes_on = models.DateField(_("closes on"), null=True, blank=True)
    lease_minutes = models.PositiveSmallIntegerField(default=30)
    pack_hours = models.PositiveSmallIntegerField(
        default=24, db_default=24, help_text="How long the places of an offline pack are kept; 0: no packs."
    )
    seed = models.BigIntegerField(default=0, help_text="Of the order in which units are handed out.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class CampaignCohort(models.Model):
    """One cohort in a campaign: how many answers per unit are wanted from it, and whether it is paused."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="cohorts")
    cohort = models.ForeignKey("people.Cohort", models.PROTECT, related_name="campaigns")
    target_answers = models.PositiveSmallIntegerField()
    most_per_person = models.PositiveIntegerField(null=True, blank=True, help_text="Answers one person may give.")
    most_per_day = models.PositiveIntegerField(null=True, blank=True, help_text="On the cohort's calendar.")
    paused = models.BooleanField(default=False)
    complete_at = models.DateTimeField(null=True, blank=True, help_text="When the last answer wanted came.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "cohort"], name="campaign_cohort_once"),
            models.CheckConstraint(name="target_answers_positive", condition=models.Q(target_answers__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.cohort} in {self.campaign}"


class Tally(models.Model):
    """Counters of a campaign's cohort, in shards so that people do not wait for one row.

    Written only in the transaction that changes what is counted; `recount_slots` proves them. The sum of `changes`
    grows with every change of a rating: it is the watermark of live pages.
    """

    SHARDS = 16
    cohort = models.ForeignKey(CampaignCohort, models.PROTECT, related_name="tallies")
    shard = models.PositiveSmallIntegerField()
    wanted = models.BigIntegerField(default=0)
    submitted = models.BigIntegerField(default=0)
    skipped = models.BigIntegerField(default=0)
    changes = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cohort", "shard"], name="tally_once")]

    def __str__(self) -> str:
        return f"tally {self.cohort_id}/{self.shard}"


class InstructionVersion(models.Model):
    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="instruction_versions")
    number = models.PositiveSmallIntegerField()
    required = models.BooleanField(default=False, help_text="To be gone through before work, also by those who began.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "number"], name="instruction_version_once")]

    def __str__(self) -> str:
        return f"instructions {self.number}"


class InstructionText(models.Model):
    """In one language, for all cohorts or for one. `parts`: see annotation.instructions.protocol.Protocol."""

    version = models.ForeignKey(InstructionVersion, models.PROTECT, related_name="texts")
    language = models.CharField(max_length=12)
    cohort = models.ForeignKey("people.Cohort", models.PROTECT, null=True, blank=True, related_name="+")
    body = models.TextField()
    parts = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "language", "cohort"], nulls_distinct=False, name="instruction_text_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.version} ({self.language})"


class Exclusion(models.Model):
    """A rater whose answers do not count in a benchmark, and why. Lifting it keeps the row."""

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="exclusions")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="exclusions")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "rater"], condition=models.Q(lifted_at__isnull=True), name="exclusion_live_once"
            )
        ]

    def __str__(self) -> str:
        return f"exclusion of rater {self.rater_id} from {self.benchmark}"
