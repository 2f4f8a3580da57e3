"""What models search, and what they are asked: known by key, never by position."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Collection(models.Model):
    """A versioned set of things that are searched (images, captions) and the queries put to it.

    A new version is a row of its own: every result says what it was made from. `stage`, `params` and `seed` say what
    it was made from itself, so that the next version can be made alike; a collection of a file has no stage.
    """

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="collections")
    key = models.SlugField(max_length=60)
    version = models.CharField(max_length=40, default="1")
    name = models.CharField(_("name"), max_length=120)
    licence = models.CharField(max_length=120, blank=True)
    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, null=True, related_name="+")
    params = models.JSONField(default=dict)
    seed = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "key", "version"], name="collection_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Entry(models.Model):
    """One thing that can be found. `about` is what numbers are cut by: country, region, language, concept, labels.
    `image` or `text` is what an encoder takes in; one that was scored elsewhere needs neither."""

    collection = models.ForeignKey(Collection, models.PROTECT, related_name="entries")
    key = models.CharField(max_length=200)
    image = models.ForeignKey("benchmarks.Image", models.PROTECT, null=True, related_name="+")
    text = models.TextField(blank=True)
    about = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "key"], name="entry_key_once")]

    def __str__(self) -> str:
        return self.key


class Query(models.Model):
    """One thing that is asked, in a query set ("plain", "with descriptor", "casual", ...).

    `relevant` are the keys of the entries that are right. `roles` names the candidates of a forced choice: role to
    entry key, such as {"correct": ..., "language_biased": ..., "irrelevant": ...}. `about`: concept, country,
    language, descriptor, and what else numbers are cut by.
    """

    collection = models.ForeignKey(Collection, models.PROTECT, related_name="queries")
    query_set = models.CharField(max_length=60, blank=True)
    key = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    image = models.ForeignKey("benchmarks.Image", models.PROTECT, null=True, related_name="+")
    relevant = models.JSONField(default=list)
    roles = models.JSONField(default=dict)
    about = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "query_set", "key"], name="query_key_once")]

    def __str__(self) -> str:
        return self.key
