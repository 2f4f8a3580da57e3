from django.conf import settings
from django.db import models


class ReleaseImport(models.Model):
    """A release that a team imports. A later version of it is a further import of the same benchmark.

    `benchmark` is empty until the files were verified. `manifest` is as it was read then.
    """

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="+")
    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, null=True, related_name="release_imports")
    name = models.CharField(max_length=120, help_text="Of the benchmark that is created.")
    slug = models.SlugField(help_text="Its address.")
    source = models.CharField(max_length=60, blank=True, help_text="The address of the benchmark it comes from.")
    version = models.CharField(max_length=40)
    manifest_sha256 = models.CharField(max_length=64)
    manifest = models.JSONField(default=dict)
    job = models.ForeignKey("jobs.Job", models.PROTECT, null=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.source} {self.version}"


class ImportedRow(models.Model):
    """A row of a release, and the object that it became. Written with the object, in one transaction.

    `digest` is of the row as the file has it; `seen` is the last import that had the row.
    """

    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=700, help_text="As JSON.")
    object_id = models.BigIntegerField()
    digest = models.UUIDField()
    seen = models.ForeignKey(ReleaseImport, models.PROTECT, related_name="rows", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "kind", "key"], name="imported_row_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
