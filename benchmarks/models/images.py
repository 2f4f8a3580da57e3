from django.db import models

UNREADABLE = "unreadable"
"""In place of the perceptual hash of a picture that could not be read."""


class Image(models.Model):
    """Bytes as they came, kept and never served. Identity is the sha256, inside one team."""

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="images")
    sha256 = models.CharField(max_length=64)
    format = models.CharField(max_length=8)
    bytes = models.PositiveBigIntegerField()
    width = models.PositiveIntegerField(help_text="Upright, after the EXIF orientation.")
    height = models.PositiveIntegerField()
    orientation = models.PositiveSmallIntegerField(default=1)
    perceptual_hash = models.CharField(
        max_length=70, blank=True, default="", db_default="",
        help_text="See benchmarks.services.intake.picture_hashes; empty until a filter needs it.",
    )  # fmt: skip
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "sha256"], name="image_once")]

    def __str__(self) -> str:
        return f"{self.sha256[:12]} {self.width}x{self.height}"

    @property
    def original_name(self) -> str:
        """Where the bytes lie in the storage. Shared between teams: the name says nothing but the content."""
        return f"originals/{self.sha256[:2]}/{self.sha256}"
