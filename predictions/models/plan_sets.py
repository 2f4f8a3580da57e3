"""Runs that are planned together: several models under several conditions, with one budget and one seed."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class PlanSet(models.Model):
    """What one form *Ask models* started. Its runs (`Run.plan_set`) have no budget of their own: `budget` holds for all
    of them together, failed and lost requests included. `state` is what a person last wanted of the set; how far its
    runs are is read from the runs."""

    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Paused")
        CANCELLED = "cancelled", _("Stopped")

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="plan_sets")
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars.")
    seed = models.BigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="plan_set_budget_above_zero", condition=Q(budget=None) | Q(budget__gt=0))
        ]

    def __str__(self) -> str:
        return f"plan set {self.pk}"
