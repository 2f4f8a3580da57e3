"""What models proposed for the items that a stage is derived from, in another stage that is made of the same items."""

from collections.abc import Collection, Iterable, Mapping

from annotation.models import ItemSource
from annotation.services.derivation.accepted_results import results_of
from annotation.services.derivation.run_choice import RunChoice
from benchmarks.models import Item, Stage
from benchmarks.rules.derivations import Derivation, Result
from benchmarks.rules.derivations.proposals import first_proposals


def load_proposals(stage: Stage, derivation: Derivation, results: Iterable[Result]) -> Mapping[int, Result] | None:
    """By item of an earlier stage, the answer of a model that is proposed for it. None where nothing is proposed."""
    proposals = derivation.proposals
    if proposals is None:
        return None
    asked = stage.benchmark.stages.filter(key=proposals.stage).select_related("benchmark").first()
    if asked is None:
        return {}
    base = {result.item.id for result in results}
    links = ItemSource.objects.filter(item__stage=asked, item__withdrawn_at=None, source__in=base)
    made_of: dict[int, set[int]] = {}
    for item, source in links.values_list("item", "source"):
        made_of.setdefault(item, set()).add(source)
    answers = results_of(asked, items=made_of.keys(), runs=RunChoice(every=True))
    of_models = [result for result in answers if result.kind == "model"]
    return first_proposals(((item, result) for result in of_models for item in made_of[result.item.id]), proposals)


def items_proposed_for(derivation: Derivation, due: Collection[int]) -> set[int]:
    """The items of earlier stages that changed proposals are about."""
    if derivation.proposals is None:
        return set()
    asked = Item.objects.filter(pk__in=due, stage__key=derivation.proposals.stage)
    return set(ItemSource.objects.filter(item__in=asked).values_list("source", flat=True))
