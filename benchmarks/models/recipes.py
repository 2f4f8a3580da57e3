from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class SavedRecipe(models.Model):
    """One version of a recipe that a team keeps: what a recipe file holds. A version never changes; a change of content
    makes the next one. `published`: the published recipe whose tables, figures and records it has, or empty."""

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="saved_recipes")
    key = models.SlugField(max_length=60)
    version = models.PositiveIntegerField()
    name = models.CharField(_("name"), max_length=120)
    content = models.JSONField(help_text="See benchmarks.recipes.recipe_json.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content.")
    published = models.CharField(max_length=60, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True, help_text="Not offered any more; benchmarks keep it.")

    class Meta:
        ordering = ["name", "key", "-version"]
        constraints = [models.UniqueConstraint(fields=["team", "key", "version"], name="saved_recipe_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
