"""Menus name a campaign with its stage: people may know either name."""

from evaluation.selections.catalogue import catalogue_of
from releases.forms.exports import ExportForm
from tests.evaluation.data import an_open_campaign
from tests.personas import World


def test_a_stage_is_named_with_its_only_campaign(world: World) -> None:
    world.add_items(2)
    first = an_open_campaign(world)
    [stage] = catalogue_of(world.benchmark).stages
    assert stage.called == f"{world.stage.name}: {first.name}"
    an_open_campaign(world, name="Round two")
    [stage] = catalogue_of(world.benchmark).stages
    assert stage.called == world.stage.name, "the campaigns have a menu of their own"


def test_the_export_names_campaigns_with_their_stage(world: World) -> None:
    world.add_items(2)
    first, named_alike = an_open_campaign(world), an_open_campaign(world, name=world.stage.name)
    offered = dict(ExportForm(benchmark=world.benchmark).fields["campaign"].choices)  # type: ignore[attr-defined]
    labels = {str(value): label for value, label in offered.items()}
    assert labels[str(first.pk)] == f"{world.stage.name}: {first.name}"
    assert labels[str(named_alike.pk)] == world.stage.name
