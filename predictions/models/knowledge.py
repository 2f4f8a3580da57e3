"""A knowledge base: entries with pictures and articles, the indexes over them, and what images were linked to."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class KnowledgeBase(models.Model):
    """A team's, in versions: a new version is a row of its own. Its vectors lie in files of the data folder."""

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="knowledge_bases")
    key = models.SlugField(max_length=60)
    version = models.CharField(max_length=40, default="1")
    name = models.CharField(_("name"), max_length=120)
    licence = models.CharField(max_length=120, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key", "version"], name="knowledge_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class KnowledgeEntry(models.Model):
    """`key` is its id where it comes from. `lemmas`: the first is the one that is shown."""

    base = models.ForeignKey(KnowledgeBase, models.PROTECT, related_name="entries")
    key = models.CharField(max_length=200)
    lemmas = ArrayField(models.CharField(max_length=300))
    gloss = models.TextField(blank=True)
    title = models.CharField(max_length=300, blank=True)
    text = models.TextField(blank=True)
    language = models.CharField(max_length=12, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["base", "key"], name="knowledge_entry_once")]

    def __str__(self) -> str:
        return self.key


class KnowledgeImage(models.Model):
    """A picture of an entry. `image` where its bytes were kept; a vector alone has none."""

    entry = models.ForeignKey(KnowledgeEntry, models.PROTECT, related_name="images")
    name = models.CharField(max_length=300)
    image = models.ForeignKey("benchmarks.Image", models.PROTECT, null=True, related_name="+")
    sha256 = models.CharField(max_length=64, blank=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["entry", "name"], name="knowledge_image_once")]

    def __str__(self) -> str:
        return self.name


class KnowledgeIndex(models.Model):
    """Vectors of a base's images or texts by one encoder, and the FAISS index over them. `facts`: kind ("flat",
    "hnsw"), recall against exact, seconds, bytes; what was measured when it was built."""

    class Over(models.TextChoices):
        IMAGES = "images", _("Pictures")
        LEMMAS = "lemmas", _("Names")
        GLOSSES = "glosses", _("Glosses")
        ARTICLES = "articles", _("Articles")

    base = models.ForeignKey(KnowledgeBase, models.PROTECT, related_name="indexes")
    endpoint = models.ForeignKey("predictions.Endpoint", models.PROTECT, null=True, related_name="+")
    model = models.CharField(max_length=200, help_text="The encoder, with its checkpoint.")
    over = models.CharField(max_length=10, choices=Over)
    dimensions = models.PositiveIntegerField(default=0)
    count = models.PositiveBigIntegerField(default=0)
    built_at = models.DateTimeField(null=True)
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["base", "model", "over"], name="knowledge_index_once")]

    def __str__(self) -> str:
        return f"{self.over} by {self.model}"


class EntityLink(models.Model):
    """What a linking run found for an item: entry keys with their scores, the best first, and the neighbours they came
    from ([name, entry key, score])."""

    run = models.ForeignKey("predictions.Run", models.PROTECT, related_name="links")
    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="+")
    keys = ArrayField(models.CharField(max_length=200))
    scores = ArrayField(models.FloatField())
    neighbours = models.JSONField(default=list)
    reason = models.CharField(max_length=40, blank=True, help_text="Why nothing was linked.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "item"], name="link_once"),
            models.CheckConstraint(name="no_link_has_reason", condition=~Q(keys=[]) | ~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"link {self.pk}"
