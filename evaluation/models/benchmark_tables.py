from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class BenchmarkTable(models.Model):
    """A table that a researcher composed for one benchmark. The kinds are in `evaluation.tables.composed`.

    `rows`, `columns` and `measure` are choices of the kind; empty where it has none. `version` grows with each change,
    and what was kept of an earlier one is not shown any more.
    """

    class Kind(models.TextChoices):
        AGREEMENT = "agreement", _("Agreement by cohort")
        MODELS = "models", _("Models against people")
        RANKING = "ranking", _("Ranking")
        DISTRIBUTION = "distribution", _("Distribution of answers")
        COVERAGE = "coverage", _("Coverage")
        ACCURACY = "accuracy", _("Accuracy against a key")

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="composed_tables")
    key = models.SlugField(max_length=60)
    name = models.CharField(_("name"), max_length=120)
    kind = models.CharField(max_length=14, choices=Kind)
    stage = models.CharField(max_length=60, help_text="The key of a stage.")
    field = models.CharField(max_length=60, blank=True, help_text="The key of a question of its sheet.")
    rows = models.CharField(max_length=80, blank=True)
    columns = models.CharField(max_length=80, blank=True)
    measure = models.CharField(max_length=20, blank=True)
    options = models.JSONField(default=dict, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "key"], name="benchmark_table_key_once")]

    def __str__(self) -> str:
        return self.name
