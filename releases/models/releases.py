from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from releases.models.selections import ReleaseSelection


class Release(models.Model):
    """A version of a benchmark's data, frozen. From `published_at` on the database refuses every change but a
    withdrawal (migration 0001).

    A job builds it: first all rows of the selection are frozen at one moment, then the files are written from them.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("Not built")
        READY = "ready", _("Frozen, not published")
        PUBLISHED = "published", _("Published")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="releases")
    version = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    notes = models.TextField(blank=True, help_text="What changed, as its authors say.")
    selection = models.JSONField(help_text="See releases.models.selections.ReleaseSelection.")
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="children", help_text="The one before.")
    job = models.ForeignKey("jobs.Job", models.PROTECT, null=True, related_name="+", help_text="What builds it.")
    frozen_at = models.DateTimeField(null=True, help_text="The moment of its rows; null: they are not frozen yet.")
    watermark = models.BigIntegerField(null=True, help_text="See annotation.queries.answers.watermark.")
    facts = models.JSONField(default=dict, help_text="What was known when the rows were frozen.")
    store = models.UUIDField(default=uuid4, editable=False, help_text="Names its folder in the storage.")
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    built_at = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_because = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="release_version_once"),
            models.CheckConstraint(
                name="release_published_is_built",
                condition=models.Q(published_at=None) | models.Q(built_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.version}"

    @property
    def chosen(self) -> ReleaseSelection:
        return ReleaseSelection.from_json(self.selection)

    @property
    def folder(self) -> str:
        """Where its files lie in the storage. No number, which a restored database gives again."""
        return f"releases/{self.store.hex}"


class ReleaseFile(models.Model):
    """A finished file. It is written again only when the release is built again."""

    release = models.ForeignKey(Release, models.PROTECT, related_name="files")
    path = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    rows = models.PositiveBigIntegerField(null=True, help_text="Of a file of rows; null of another.")
    media_type = models.CharField(max_length=80)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "path"], name="release_file_once")]

    def __str__(self) -> str:
        return self.path

    @property
    def stored_name(self) -> str:
        return f"{self.release.folder}/{self.path}"


class WithheldFile(models.Model):
    """A finished file that stays on the server: answers of a withheld split. Only owners can download it. It is no
    ReleaseFile, so that nothing that lists the files of a release can ship it."""

    release = models.ForeignKey(Release, models.PROTECT, related_name="withheld_files")
    path = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveBigIntegerField()
    rows = models.PositiveBigIntegerField(null=True)
    media_type = models.CharField(max_length=80)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "path"], name="withheld_file_once")]

    def __str__(self) -> str:
        return self.path

    @property
    def stored_name(self) -> str:
        return f"{self.release.folder}/{self.path}"


class ReleaseItem(models.Model):
    """The split of an item in a release that is split. `hides_text`: the item was made of withheld answers."""

    release = models.ForeignKey(Release, models.PROTECT, related_name="items", db_index=False)
    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="+", db_index=False)
    split = models.CharField(max_length=20)
    hides_text = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "item"], name="release_item_once")]

    def __str__(self) -> str:
        return f"{self.item_id} in {self.split}"


class ReleaseRow(models.Model):
    """A row of a release: which it is, its state, and a checksum of all that it says.

    `number` and `part` are its key among rows of its kind, `place` is where it stands in the files of its table.
    """

    release = models.ForeignKey(Release, models.PROTECT, related_name="rows", db_index=False)
    table = models.CharField(max_length=80)
    place = models.PositiveIntegerField()
    number = models.BigIntegerField()
    part = models.CharField(max_length=20, blank=True)
    state = models.CharField(max_length=40, blank=True)
    split = models.CharField(max_length=20, db_default="train", default="train")
    digest = models.UUIDField(help_text="MD5 of the columns; finds changes, proves nothing.")
    content = models.UUIDField(null=True, help_text="Of an item: MD5 of what it shows, without its metadata.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "table", "place"], name="release_row_once")]

    def __str__(self) -> str:
        return f"{self.table} {self.number}"
