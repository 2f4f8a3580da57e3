"""Properties for responsible use of a Croissant file: https://docs.mlcommons.org/croissant/docs/croissant-rai-spec.html.

Each is computed or written by the team; a property that nobody knows is left out, and the card names it as a gap.
mlcroissant knows two of them under another spelling than the specification's. Both are written.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings

from releases.descriptions import computed
from releases.descriptions.computed import ReleaseFacts
from releases.descriptions.sections import known as known_facts
from releases.models import Release

_OTHER_SPELLING = {
    "dataCollectionTimeframe": "dataCollectionTimeFrame", "dataManipulationProtocol": "dataDataManipulationProtocol"
}  # fmt: skip
_WRITTEN = {
    "dataBiases": "biases", "dataLimitations": "limitations", "dataUseCases": "use_cases",
    "dataSocialImpact": "social_impact", "dataReleaseMaintenancePlan": "maintenance",
}  # fmt: skip


def responsible(release: Release) -> dict[str, Any]:
    facts, card = known_facts(release), release.facts["described"]["card"]
    values = {name: compute(facts) for name, compute in _COMPUTED.items()}
    values |= {name: card.get(key) for name, key in _WRITTEN.items()}
    values |= {other: values[name] for name, other in _OTHER_SPELLING.items()}
    return {f"rai:{name}": value for name, value in values.items() if value}


def _joined(compute: computed.Compute) -> Callable[[ReleaseFacts], str]:
    return lambda known: " ".join(compute(known))


def _collection_types(known: ReleaseFacts) -> list[str]:
    answers = known.counts["answers"]
    types = ["Surveys", "Crowdsourcing"] if answers["people"] else []
    return types + (["Others"] if answers["models"] else [])


def _demographics(known: ReleaseFacts) -> list[str]:
    return [f"{row['label']}: {computed.group_size(row['people'])} people" for row in known.counts["cohorts"]]


def _per_item(known: ReleaseFacts) -> str:
    return "; ".join(
        f"{stage['name']}: answers wanted of each item: {computed.wanted(stage)}" for stage in known.counts["stages"]
    )


def _manipulation(known: ReleaseFacts) -> str:
    derived = [stage for stage in known.counts["stages"] if stage["derived"]]
    return "; ".join(f"{stage['name']}: items made of earlier ones ({stage['derived']})" for stage in derived)


def _personal(known: ReleaseFacts) -> list[str]:
    written = known.described["card"].get("sensitive", "")
    return [*computed.identifiability(known), *([written] if written else [])]


_COMPUTED: dict[str, Callable[[ReleaseFacts], Any]] = {
    "dataCollection": lambda known: (
        "People of each cohort answer sheets in a browser, and models answer the same sheets."
    ),
    "dataCollectionType": _collection_types,
    "dataCollectionTimeframe": lambda known: [day for day in (known.counts["first"], known.counts["last"]) if day],
    "dataCollectionMissingData": _joined(computed.missing),
    "dataCollectionRawData": _joined(computed.raw_data),
    "dataAnnotationProtocol": _joined(computed.protocol),
    "dataAnnotationPlatform": lambda known: [f"Emic {settings.VERSION}"],
    "dataAnnotationAnalysis": lambda known: known.facts.get("agreement", {}).get("lines", []),
    "annotationsPerItem": _per_item,
    "annotatorDemographics": _demographics,
    "machineAnnotationTools": lambda known: known.counts["models"],
    "personalSensitiveInformation": _personal,
    "dataPreprocessingProtocol": _joined(computed.cleaning),
    "dataManipulationProtocol": _manipulation,
    "dataImputationProtocol": lambda known: "none",
}
