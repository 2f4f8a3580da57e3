"""Which cohort's own item an item is: the culture that its answer is about, else its origin."""

from django.db.models import Case, CharField, F, When

CULTURE = "CASE i.answer_target WHEN '' THEN i.origin ELSE i.answer_target END"
"""Of an item `i`. In a stage of own items the cohort with this label gets it; two cultures are no cohort's."""


def culture(prefix: str = "") -> Case:
    """The same for a query of objects. `prefix`: the lookup that leads to the item."""
    own, origin = f"{prefix}answer_target", f"{prefix}origin"
    return Case(When(**{own: ""}, then=F(origin)), default=F(own), output_field=CharField())
