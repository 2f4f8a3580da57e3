from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class BenchmarkCondition(models.Model):
    """A way of asking models that a researcher wrote for one benchmark, or changed or removed from those it has by
    itself: a row with the key of such a one stands in its place. See benchmarks.recipes.contract.ModelCondition."""

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="own_conditions")
    key = models.CharField(max_length=60)
    name = models.JSONField(_("name"), help_text="{language: text}")
    stage = models.CharField(max_length=60, help_text="The key of a stage.")
    prompt = models.CharField(max_length=60)
    setting = models.CharField(max_length=60, blank=True)
    needs = models.JSONField(default=list, blank=True)
    judge = models.BooleanField(default=False)
    options = models.JSONField(default=dict, blank=True)
    removed = models.BooleanField(default=False)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "key"], name="benchmark_condition_key_once")]

    def __str__(self) -> str:
        return self.key
