"""A selection of one question of a sheet, made from that of another."""

from dataclasses import replace

from evaluation.selections.catalogue import CampaignEntry
from evaluation.selections.measures import default_measure
from evaluation.selections.selection import Selection


def of_question(selection: Selection, entry: CampaignEntry, key: str) -> Selection:
    """The same selection of another question of the sheet, by the measure chosen for it or the default of its level."""
    level = entry.sheet.agreement_level(key)
    return replace(
        selection,
        field=key,
        level=level,
        options=entry.options_of(key),
        show_if=entry.sheet.field(key).show_if,
        measure=dict(selection.ask_as).get(key, default_measure(level)),
    )
