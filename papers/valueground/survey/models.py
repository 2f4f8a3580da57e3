"""A survey as aggregates: its questions, their options, how often each option was chosen, and the pairs of options.

No answer of a single respondent is stored. A version of a survey never changes; decisions about its questions do.
"""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Survey(models.Model):
    """One version of a benchmark's survey: what an import of files made, on top of the version before it."""

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="surveys")
    key = models.SlugField(max_length=80)
    version = models.PositiveIntegerField()
    name = models.CharField(_("name"), max_length=120)
    terms = models.CharField(_("terms of use"), max_length=300, blank=True)
    citation = models.CharField(_("citation"), max_length=500, blank=True)
    weighted = models.BooleanField(default=False, help_text="Whether the counts are sums of weights.")
    label_set = models.ForeignKey("benchmarks.LabelSet", models.PROTECT, null=True, related_name="+")
    files = models.JSONField(default=dict, help_text="By kind of file: name and SHA-256 of the file that it rests on.")
    other_variables = models.JSONField(default=list, help_text="Keys of the codebook that are no questions.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "version"], name="survey_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class SurveyQuestion(models.Model):
    """A question of one version. JSON: `options` {code: label}, `written` {code in the files: code} where these are no
    numbers, `adjustment` {code: new code, or null to leave the answer out}."""

    class State(models.TextChoices):
        PROPOSED = "proposed", _("Proposed")
        TO_DECIDE = "to_decide", _("To decide")
        CONFIRMED = "confirmed", _("Confirmed")
        EXCLUDED = "excluded", _("Excluded")

    class Reason(models.TextChoices):
        DEMOGRAPHIC = "demographic", _("Demographic")
        MANY_OPTIONS = "many_options", _("Too many options")
        FACTUAL = "factual", _("A fact, not an attitude")
        BEHAVIOUR = "behaviour", _("Behaviour or membership")
        NO_OPPOSITES = "no_opposites", _("No opposite options")
        PAIR_REJECTED = "pair_rejected", _("Its pair of pictures was rejected")
        OTHER = "other", _("Other")

    survey = models.ForeignKey(Survey, models.PROTECT, related_name="questions", db_index=False)
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=60)
    title = models.TextField()
    instruction = models.TextField(blank=True)
    text = models.TextField(blank=True, help_text="The full question, from the metadata.")
    options = models.JSONField(default=dict)
    written = models.JSONField(default=dict)
    category = models.CharField(max_length=200, blank=True)
    use = models.CharField(max_length=20, blank=True)
    ordered = models.BooleanField(null=True)
    ends = models.JSONField(null=True, help_text="Least and greatest code of the scale, from the metadata.")
    has_metadata = models.BooleanField(default=False)
    file_adjustment = models.JSONField(default=dict, help_text="As imported; `adjustment` may be a person's.")
    adjustment = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State)
    reason = models.CharField(max_length=20, choices=Reason, blank=True)
    looked_at = models.DateTimeField(null=True)
    looked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["survey", "key"], name="survey_question_once")]

    def __str__(self) -> str:
        return f"{self.key} {self.title}"


class SurveyCount(models.Model):
    """How often a code was answered in a country, by the codes of the files: no adjustment is applied yet."""

    question = models.ForeignKey(SurveyQuestion, models.PROTECT, related_name="counts", db_index=False)
    label = models.ForeignKey("benchmarks.Label", models.PROTECT, related_name="+")
    code = models.IntegerField()
    count = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["question", "label", "code"], name="survey_count_once")]

    def __str__(self) -> str:
        return f"{self.question_id} {self.label_id} {self.code}: {self.count:g}"


class OptionPair(models.Model):
    """A proposed pair of options, or a decision about it. Append-only but for `current` and `undone_at`.

    `a`, `b`: codes after the adjustment. `act`: one press, which is undone as a whole. `by` is empty for proposals.
    The question holds state, reason and adjustment of its current pair, so that lists can be filtered.
    """

    question = models.ForeignKey(SurveyQuestion, models.PROTECT, related_name="pairs")
    a = models.IntegerField(null=True)
    b = models.IntegerField(null=True)
    how = models.CharField(max_length=10, blank=True)
    flags = models.JSONField(default=list)
    adjustment = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=SurveyQuestion.State)
    reason = models.CharField(max_length=20, choices=SurveyQuestion.Reason, blank=True)
    note = models.CharField(max_length=500, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    act = models.UUIDField(null=True, db_index=True)
    current = models.BooleanField(default=True)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["question"], condition=models.Q(current=True), name="option_pair_current_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question_id}: {self.a}, {self.b} ({self.state})"
