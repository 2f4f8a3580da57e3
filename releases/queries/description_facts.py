"""What a data statement and a datasheet need beyond counts of answers: all of it counted, or written by the team."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Avg, Count, Max, Min
from django.db.models.functions import Length

from annotation.models import Exclusion, InstructionVersion, SheetVersion
from benchmarks.models import FilterResult, Image, ItemImage
from people.models import Consent, ConsentVersion, Rater
from releases.models import Release, ReleaseItem
from releases.queries.shipped_answers import shipped_answers, shipped_items, shipped_reviews


def description_facts(release: Release) -> dict[str, Any]:
    """JSON. Counts of answers are of those that are shipped. A fixed number of queries."""
    benchmark, chosen, answers = release.benchmark, release.chosen, shipped_answers(release)
    hidden = ReleaseItem.objects.filter(release=release, hides_text=True)
    items = shipped_items(release)
    pictures = ItemImage.objects.filter(item__in=items)
    images = Image.objects.filter(pk__in=pictures.values("image"))
    sizes = images.aggregate(w0=Min("width"), w1=Max("width"), h0=Min("height"), h1=Max("height"))
    return {
        "written": {name: getattr(benchmark, name).strip() for name in ("name", "purpose", "citation", "licence")},
        "card": {key: text.strip() for key, text in benchmark.card.items() if text.strip()},
        "authors": benchmark.authors,
        "team": benchmark.team.name,
        "recipe": " ".join(filter(None, (benchmark.recipe, benchmark.recipe_version))),
        "answer_languages": _counts(answers.filter(rater__kind=Rater.Kind.PERSON), "language"),
        "origins": _counts(items.filter(withdrawn_at=None), "origin"),
        "withdrawn_items": items.exclude(withdrawn_at=None).count(),
        "filters": _counts(FilterResult.objects.filter(item__in=items).exclude(state="waiting"), "state"),
        "texts": items.exclude(text="").exclude(pk__in=hidden.values("item")).annotate(size=Length("text")).aggregate(
            n=Count("pk"), mean=Avg("size"), longest=Max("size")
        ),
        "picture_formats": _counts(images, "format"),
        "picture_sizes": [sizes["w0"], sizes["w1"], sizes["h0"], sizes["h1"]] if sizes["w0"] else [],
        "picture_sources": pictures.exclude(source="").values("source").distinct().count(),
        "picture_uses": pictures.count(),
        "without_source": pictures.filter(source="").count(),
        "sheets": _sheet_versions(chosen.stages),
        "instructions": InstructionVersion.objects.filter(campaign__in=chosen.campaigns).count(),
        "instruction_languages": sorted(set(
            InstructionVersion.objects.filter(campaign__in=chosen.campaigns, texts__isnull=False)
            .values_list("texts__language", flat=True)
        )),
        "reviews": _counts(shipped_reviews(release), "decision"),
        "excluded": Exclusion.objects.filter(benchmark=benchmark, lifted_at=None).count(),
        "consent_versions": ConsentVersion.objects.filter(team=benchmark.team).exclude(published_at=None).count(),
        "consents": Consent.objects.filter(version__team=benchmark.team, withdrawn_at=None).values("user").distinct()
            .count(),
    }  # fmt: skip


def _counts(rows: Any, column: str) -> dict[str, int]:
    return dict(rows.order_by(column).values_list(column).annotate(n=Count("pk")))


def _sheet_versions(stages: Sequence[int]) -> list[str]:
    """Stage and version of every sheet that was frozen."""
    versions = SheetVersion.objects.filter(stage__in=stages).order_by("stage__position", "stage", "major", "minor")
    return [f"{version.stage.name} {version}" for version in versions.select_related("stage")]
