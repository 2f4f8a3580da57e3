"""What model raters produced that is no answer to a sheet: rankings, similarities, embeddings."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from predictions.models.collections import Collection


class Run(models.Model):
    """A model rater's pass over a collection, or over the units of a campaign ("answers": the very sheets of people).

    One that was made elsewhere comes as a file, and is finished. A withdrawn run stays with everything it holds and is
    counted nowhere; it can be brought back. What is asked of whom is frozen here: endpoint, model, revision, prompt and
    its version, decoding, selection, seed. `prompt_options`: what the prompt takes besides (few-shot examples, the run
    whose links give the article, a label set, ...). `selection`: conditions, targets, concepts, sample size.
    """

    class Task(models.TextChoices):
        RETRIEVAL = "retrieval", _("Retrieval: ranked lists")
        FORCED_CHOICE = "forced_choice", _("Forced choice: similarities of candidates")
        EMBEDDING = "embedding", _("Embeddings")
        ANSWERS = "answers", _("Answers to a sheet")
        FACTS = "facts", _("Item facts")
        LINKING = "linking", _("Entities linked to items")

    class State(models.TextChoices):
        DRAFT = "draft", _("Not started")
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Paused")
        CANCELLED = "cancelled", _("Stopped")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")  # every call ended, and none gave an answer

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="runs")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="runs")
    collection = models.ForeignKey("predictions.Collection", models.PROTECT, null=True, related_name="runs")
    campaign = models.ForeignKey("annotation.Campaign", models.PROTECT, null=True, related_name="runs")
    knowledge_index = models.ForeignKey("predictions.KnowledgeIndex", models.PROTECT, null=True, related_name="runs")
    endpoint = models.ForeignKey("predictions.Endpoint", models.PROTECT, null=True, related_name="runs")
    model = models.CharField(max_length=200, blank=True, help_text="As the endpoint calls it.")
    revision = models.CharField(max_length=100, blank=True)
    prompt = models.CharField(max_length=60, blank=True)
    prompt_version = models.CharField(max_length=20, blank=True)
    prompt_options = models.JSONField(default=dict)
    decoding = models.JSONField(default=dict, help_text="temperature, max_tokens, top_p, seed, and how it is read.")
    selection = models.JSONField(default=dict)
    repeats = models.PositiveSmallIntegerField(default=1)
    seed = models.BigIntegerField(default=0, help_text="Of what is shuffled or drawn.")
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars.")
    unaccounted = models.DecimalField(
        max_digits=14,
        decimal_places=8,
        default=0,
        help_text="What requests of unknown cost (cut off, lost with a worker) may have cost at most; US dollars.",
    )
    plan_set = models.ForeignKey("predictions.PlanSet", models.PROTECT, null=True, related_name="runs")
    committed = models.DecimalField(
        max_digits=14,
        decimal_places=8,
        default=0,
        help_text="In a plan set with a budget: what the run has spent, and what its requests in flight may cost at "
        "most, as its executor last noted it before it sent them; US dollars.",
    )
    follows = models.BooleanField(
        default=False, help_text="It asks about items that come later, and waits for them when all others are asked."
    )
    state = models.CharField(max_length=10, choices=State, default=State.DONE)
    job = models.ForeignKey("jobs.Job", models.PROTECT, null=True, related_name="+", help_text="The one that asks.")
    stopped_because = models.CharField(max_length=40, blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    task = models.CharField(max_length=20, choices=Task)
    query_set = models.CharField(max_length=60, blank=True)
    system_prompt = models.CharField(max_length=60, blank=True)
    score_kind = models.CharField(max_length=40, blank=True, help_text='"cosine", "matching", ...')
    options = models.JSONField(default=dict)
    source = models.CharField(max_length=20, default="file")
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the file it came in.")
    complete = models.BooleanField(default=False, help_text="Everything has come in; only then it is counted.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            # the same model asked the same thing: the newer one takes the older one's place when that is withdrawn
            models.UniqueConstraint(
                fields=["collection", "rater", "task", "query_set", "system_prompt"],
                condition=Q(withdrawn_at=None),
                name="run_once",
            ),
            models.UniqueConstraint(
                fields=["campaign", "rater"], condition=Q(withdrawn_at=None, task="answers"), name="answers_run_once"
            ),
            models.CheckConstraint(
                name="run_over_something",
                condition=Q(collection__isnull=False, task__in=["retrieval", "forced_choice", "embedding"])
                | Q(campaign__isnull=False, task="answers")
                | Q(collection=None, task__in=["facts", "linking"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} by {self.rater_id}"

    @property
    def pool(self) -> Collection:
        """What a run over a collection searches."""
        if self.collection is None:
            raise ValueError(f"run {self.pk} is over no collection")
        return self.collection


class Ranking(models.Model):
    """What one query found: entry keys with their scores, the best first (ties by key).

    In a forced choice, the candidates' similarities. `keys` and `scores` have the same length.
    """

    run = models.ForeignKey(Run, models.PROTECT, related_name="rankings")
    query = models.ForeignKey("predictions.Query", models.PROTECT, related_name="rankings")
    keys = ArrayField(models.CharField(max_length=200))
    scores = ArrayField(models.FloatField())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "query"], name="ranking_once")]

    def __str__(self) -> str:
        return f"ranking {self.pk}"


class Embedding(models.Model):
    """A vector of one entry; `vector` is little-endian 32-bit floats."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="embeddings")
    entry = models.ForeignKey("predictions.Entry", models.PROTECT, related_name="+")
    vector = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "entry"], name="embedding_once")]

    def __str__(self) -> str:
        return f"embedding {self.pk}"
