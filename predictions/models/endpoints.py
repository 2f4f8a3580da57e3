"""Where models answer: a team's endpoints, what they cost, and how they are reached."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Endpoint(models.Model):
    """A server or a local library that answers. It belongs to a team, and nobody else sees that it is there.

    `secret` is encrypted (predictions.services.endpoints.secrets), never shown again and never logged. `offers`: which
    of "images", "schema", "guided", "logprobs", "continuation", "seed" it can do; what it does not offer is not asked.
    """

    class Kind(models.TextChoices):
        OPENAI = "openai", _("A server that speaks the OpenAI protocol")
        OPEN_CLIP = "open_clip", _("An encoder of images and texts (open_clip)")
        DETECTOR = "detector", _("An object detector (transformers)")
        GROUNDING = "grounding", _("Zero-shot grounding of words in images (transformers)")

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="endpoints")
    kind = models.CharField(_("kind"), max_length=20, choices=Kind, default=Kind.OPENAI)
    name = models.CharField(_("name"), max_length=80)
    base_url = models.CharField(_("address"), max_length=500, blank=True)
    secret = models.TextField(blank=True, editable=False)
    secret_set_at = models.DateTimeField(null=True, editable=False)
    offers = models.JSONField(default=list)
    most_in_flight = models.PositiveSmallIntegerField(_("most requests at once"), default=8)
    per_minute = models.PositiveIntegerField(_("most requests a minute"), null=True, blank=True)
    timeout_seconds = models.PositiveSmallIntegerField(_("seconds to wait for an answer"), default=120)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="endpoint_name_once")]

    def __str__(self) -> str:
        return self.name


class Prices(models.Model):
    """A version of an endpoint's price list; every attempt names the one it was counted by.

    `table`: model name (or "*") to {"in": US dollars per million tokens, "out": the same, "image": per image,
    "request": per request}, each optional; numbers as strings, so that nothing is rounded.
    """

    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="prices")
    number = models.PositiveSmallIntegerField()
    table = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "number"], name="prices_version_once")]

    def __str__(self) -> str:
        return f"prices {self.number}"
