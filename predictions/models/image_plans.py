"""Images that an endpoint makes for a stage: what is wanted, and each image with what became of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class ImagePlan(models.Model):
    """A wish that each sentence of one stage has an image in another. See docs/how-to/make-images.md.

    `unaccounted`: US dollars of requests without a reply, which the provider may charge for. `state` is what the job
    last knew or a person wanted; how many images there are is read from the orders.
    """

    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Paused")
        DONE = "done", _("Done")
        CANCELLED = "cancelled", _("Stopped")

    source = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="+")
    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="image_plans")
    endpoint = models.ForeignKey("predictions.Endpoint", models.PROTECT, related_name="+")
    model = models.CharField(max_length=200)
    size = models.CharField(max_length=20, blank=True, help_text='As the server names it: "1024x1024".')
    quality = models.CharField(max_length=20, blank=True)
    seed = models.BigIntegerField(default=0)
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars.")
    unaccounted = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    stopped_because = models.CharField(max_length=20, blank=True)
    job = models.ForeignKey("jobs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage"], condition=~Q(state="cancelled"), name="image_plan_once"),
            models.CheckConstraint(name="image_plan_budget_above_zero", condition=Q(budget=None) | Q(budget__gt=0)),
        ]

    def __str__(self) -> str:
        return f"image plan {self.pk}"


class ImageOrder(models.Model):
    """One image that is wanted for an item of the source stage, and its revisions after comments.

    A worker holds it by `lease_until` and proves it by `holder`. `created`: the item of the other stage.
    """

    class State(models.TextChoices):
        PENDING = "pending", _("Waiting")
        RUNNING = "running", _("In progress")
        MADE = "made", _("Made")
        REFUSED = "refused", _("Refused by the service")
        OVER_BUDGET = "over_budget", _("Not sent: budget exhausted")
        FAILED = "failed", _("Failed")

    plan = models.ForeignKey(ImagePlan, models.PROTECT, related_name="orders", db_index=False)
    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="+")
    revision = models.PositiveSmallIntegerField(default=1)
    replaces = models.ForeignKey("benchmarks.Item", models.PROTECT, null=True, related_name="+")
    prompt = models.TextField()
    seed = models.BigIntegerField()
    state = models.CharField(max_length=12, choices=State, default=State.PENDING)
    reason = models.CharField(max_length=40, blank=True, help_text="See predictions.texts.call_reasons.")
    message = models.TextField(blank=True, help_text="What the service said of a failure.")
    reply = models.ForeignKey("predictions.Reply", models.PROTECT, null=True, related_name="+")
    cached = models.BooleanField(default=False, help_text="The reply was there before; nothing was sent.")
    created = models.OneToOneField("benchmarks.Item", models.PROTECT, null=True, related_name="image_order")
    attempts_made = models.PositiveSmallIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0, help_text="Attempts since a person last retried it.")
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    holder = models.CharField(max_length=40, blank=True)
    lease_until = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True, help_text="While it runs: when its request went out.")
    not_before = models.DateTimeField(null=True, help_text="When it may be sent again.")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "item", "revision"], name="image_order_once"),
            models.CheckConstraint(
                name="running_image_order_has_lease", condition=~Q(state="running") | Q(lease_until__isnull=False)
            ),
            models.CheckConstraint(
                name="made_image_order_has_item",
                condition=~Q(state="made") | Q(created__isnull=False, reply__isnull=False),
            ),
        ]
        indexes = [models.Index(fields=["plan", "state", "id"], name="image_order_of_plan")]

    def __str__(self) -> str:
        return f"image order {self.pk} ({self.state})"

    @property
    def scope(self) -> str:
        """What its attempts are filed under."""
        return f"image-order:{self.pk}"
