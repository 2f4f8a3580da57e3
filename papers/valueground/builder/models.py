"""The pair builder's rows: a plan, its sources, a build for each question and source, and the steps of each build.

docs/explanation/pair-builder.md says what a build does; papers/valueground/builder/states.py holds its states.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from papers.valueground.survey.models import Survey, SurveyQuestion


class BuildPlan(models.Model):
    """A wish that each of some questions has a pair of pictures from each source. What it says is frozen at its start.

    `edit_rounds` are the rounds that a plan may have after its first attempt, `replans` the plans after the first one.
    `state` is what the job last knew or a person wanted; how far the builds are is read from them.
    """

    class Configuration(models.TextChoices):
        PLANNER = "planner", _("Planner alone")
        PLANNER_CRITIC = "planner_critic", _("Planner and critic")
        PLANNER_EDITOR_CRITIC = "planner_editor_critic", _("Planner, editor and critic")

    class Regenerate(models.TextChoices):
        SIDE = "side", _("the picture that failed")
        BASE = "base", _("the base picture, then both")

    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Paused")
        DONE = "done", _("Done")

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="build_plans")
    survey = models.ForeignKey(Survey, models.PROTECT, related_name="build_plans")
    questions = models.JSONField(default=list, help_text="Keys of the questions, in their order.")
    configuration = models.CharField(max_length=24, choices=Configuration)
    edit_rounds = models.PositiveSmallIntegerField(default=2)
    replans = models.PositiveSmallIntegerField(default=2)
    regenerate = models.CharField(max_length=4, choices=Regenerate, default=Regenerate.SIDE)
    replan_when_spent = models.BooleanField(default=False, help_text="Plan again when the edit rounds are used up.")
    collapse_check = models.BooleanField(default=True, help_text="Ask whether a plan shrinks the question.")
    best_effort_to_review = models.BooleanField(default=False)
    base_seed = models.BigIntegerField(default=0)
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars.")
    prompt_versions = models.JSONField(default=dict, help_text="By step, as in papers.valueground.builder.prompts.")
    banned_cues = models.JSONField(default=list)
    anchor_words = models.JSONField(
        default=dict, help_text="By question: words that its plan must keep; else the rule's."
    )
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    stopped_because = models.CharField(max_length=20, blank=True)
    job = models.ForeignKey("jobs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="build_plan_budget_above_zero", condition=Q(budget=None) | Q(budget__gt=0))
        ]

    def __str__(self) -> str:
        return f"build plan {self.pk}"


class BuildSource(models.Model):
    """Who plans and who draws. Its key is the condition of the pairs that it makes."""

    plan = models.ForeignKey(BuildPlan, models.PROTECT, related_name="sources", db_index=False)
    key = models.SlugField(max_length=80)
    chat_endpoint = models.ForeignKey("predictions.Endpoint", models.PROTECT, related_name="+")
    chat_model = models.CharField(max_length=200)
    image_endpoint = models.ForeignKey("predictions.Endpoint", models.PROTECT, related_name="+")
    image_model = models.CharField(max_length=200)
    size = models.CharField(max_length=20, blank=True, help_text='As the server names it: "1024x1024".')
    quality = models.CharField(max_length=20, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["plan", "key"], name="build_source_once")]

    def __str__(self) -> str:
        return self.key


class Build(models.Model):
    """One pair of pictures that is made; a comment on it makes the next revision.

    A worker holds it by `lease_until` and proves it by `holder`. `code_a`, `code_b`, `option_a` and `option_b` are of
    the pair that was confirmed when the build was planned. `plan_round` and `edit_round` count from 0. `cost`: the sum
    of its steps, `unaccounted` what lost requests may have cost besides. `item`: the pair under review. `decision`:
    what a person decided whatever its state is: that it goes to review, past review, or nowhere.
    """

    class State(models.TextChoices):
        PLANNING = "planning", _("Planning")
        DRAWING_BASE = "drawing_base", _("Drawing the base picture")
        INSTRUCTING = "instructing", _("Writing instructions")
        EDITING = "editing", _("Editing")
        COMPARING = "comparing", _("Comparing")
        CRITICISING = "criticising", _("With the critic")
        ROUTING = "routing", _("Deciding")
        ACCEPTED = "accepted", _("Accepted")
        BEST_EFFORT = "best_effort", _("Best effort")
        REFUSED = "refused", _("Refused by a model")
        FAILED = "failed", _("Failed")
        OVER_BUDGET = "over_budget", _("Budget exhausted")
        STOPPED = "stopped", _("Stopped")

    class CommentTarget(models.TextChoices):
        A = "a", _("Picture A")
        B = "b", _("Picture B")
        BOTH = "both", _("Both pictures")
        PLAN = "plan", _("Both: plan again")

    class Decision(models.TextChoices):
        ACCEPTED = "accepted", _("Put under review by a person")
        AS_IT_IS = "as_it_is", _("Accepted as it is")
        GIVEN_UP = "given_up", _("Given up")

    plan = models.ForeignKey(BuildPlan, models.PROTECT, related_name="builds", db_index=False)
    question = models.ForeignKey(SurveyQuestion, models.PROTECT, related_name="builds")
    source = models.ForeignKey(BuildSource, models.PROTECT, related_name="builds")
    revision = models.PositiveSmallIntegerField(default=1)
    replaces = models.OneToOneField("self", models.PROTECT, null=True, related_name="replaced_by")
    code_a = models.IntegerField()
    code_b = models.IntegerField()
    option_a = models.TextField()
    option_b = models.TextField()
    state = models.CharField(max_length=12, choices=State, default=State.PLANNING)
    plan_round = models.PositiveSmallIntegerField(default=0)
    edit_round = models.PositiveSmallIntegerField(default=0)
    reason = models.CharField(
        max_length=40, blank=True, help_text="Why it ended; see papers.valueground.builder.texts."
    )
    message = models.TextField(blank=True, help_text="What a service or a model said of it.")
    comment = models.TextField(blank=True, help_text="What people said of the revision before.")
    comment_target = models.CharField(max_length=4, choices=CommentTarget, blank=True)
    comment_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    decision = models.CharField(max_length=8, choices=Decision, blank=True, default="", db_default="")
    decision_reason = models.TextField(blank=True, default="", db_default="")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    unaccounted = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    holder = models.CharField(max_length=40, blank=True)
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="When its next request may be sent.")
    item = models.OneToOneField("benchmarks.Item", models.PROTECT, null=True, related_name="build")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "question", "source", "revision"], name="build_once"),
            models.CheckConstraint(name="held_build_has_lease", condition=Q(holder="") | Q(lease_until__isnull=False)),
        ]
        indexes = [models.Index(fields=["plan", "state", "id"], name="build_of_plan")]

    def __str__(self) -> str:
        return f"build {self.pk} ({self.state})"


class BuildStep(models.Model):
    """A step of a build: its log, its replay and its account of costs. Rows are only added.

    A step with a request is written as `asked` before the request goes out, with the most it may cost as `reserved`,
    and is settled once. A step of code alone is written settled. `target`: "a", "b", or empty for both and for the
    base picture. `override`: which safeguard changed a decision. `image`: what it drew, `parent_image` what it edited.
    """

    class Kind(models.TextChoices):
        REWRITE = "rewrite", _("Rewrite a short answer")
        PLAN = "plan", _("Plan")
        CHECK = "check", _("Check of the plan")
        BASE = "base", _("Draw")
        INSTRUCT = "instruct", _("Instructions")
        EDIT = "edit", _("Edit")
        COMPARE = "compare", _("Comparison")
        CRITIC = "critic", _("Critic")
        ROUTE = "route", _("Decision")

    class State(models.TextChoices):
        ASKED = "asked", _("In progress")
        DONE = "done", _("Done")
        INVALID = "invalid", _("Unreadable reply")
        REFUSED = "refused", _("Refused by the image service")
        DECLINED = "declined", _("Declined by the model")
        FAILED = "failed", _("Failed")

    build = models.ForeignKey(Build, models.PROTECT, related_name="steps", db_index=False)
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=Kind)
    plan_round = models.PositiveSmallIntegerField()
    edit_round = models.PositiveSmallIntegerField()
    target = models.CharField(max_length=10, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.ASKED)
    request_key = models.CharField(max_length=64, blank=True, help_text="Empty: no request, code alone.")
    input = models.JSONField(default=dict)
    output = models.JSONField(default=dict)
    override = models.CharField(max_length=40, blank=True)
    seed = models.BigIntegerField(null=True)
    image = models.ForeignKey("benchmarks.Image", models.PROTECT, null=True, related_name="+")
    parent_image = models.ForeignKey("benchmarks.Image", models.PROTECT, null=True, related_name="+")
    prompt = models.TextField(blank=True)
    reply = models.ForeignKey("predictions.Reply", models.PROTECT, null=True, related_name="+")
    cached = models.BooleanField(default=False, help_text="The reply was there before; nothing was sent.")
    attempts_made = models.PositiveSmallIntegerField(default=0)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(
        max_digits=14,
        decimal_places=8,
        null=True,
        default=0,
        help_text="US dollars of all its attempts; null: unknown.",
    )
    reserved = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    prices = models.ForeignKey("predictions.Prices", models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, help_text="While it is asked: when its request went out.")
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["build", "number"], name="build_step_once"),
            models.CheckConstraint(
                name="settled_build_step_has_time", condition=Q(state="asked") | Q(settled_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"step {self.number} of build {self.build_id}"

    @property
    def scope(self) -> str:
        """What its attempts are filed under."""
        return f"build-step:{self.pk}"
