"""Label sets of a team: stored when first used, imported, typed. A version never changes."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from benchmarks.models import CohortLabel, Label, LabelSet
from benchmarks.queries.label_sets import FIELDS, find_offered, find_set, split_reference
from benchmarks.recipes.contract import slug
from benchmarks.rules.label_sets.contract import MOST_LETTERS, LabelSetError, LabelSetSpec, LabelSpec, problems
from benchmarks.rules.label_sets.registry import is_reserved
from jobs.models import record
from people.models import Cohort, Team, User


class UnknownLabelSet(KeyError):
    """The team has no set of this name, and none is built in."""


def ensure(team: Team, reference: str) -> LabelSet:
    """The team's set, stored from the built-in list or the recipe if the team has none yet.

    `reference`: a key, `key@version`, or a set's name. A built-in list whose content has changed since becomes the
    next version, unless a version is named. Raises UnknownLabelSet.
    """
    key, version = split_reference(reference)
    row, offered = find_set(team, reference), find_offered(key)
    if row is not None and (version is not None or offered is None or row.key != offered.key):
        return row
    if offered is None or version not in (None, 1):
        raise UnknownLabelSet(reference)
    return store(team, offered, None)[0]


def store(team: Team, spec: LabelSetSpec, actor: User | None) -> tuple[LabelSet, bool]:
    """The newest version of the set if its content is the same, else the next one; and whether it is new.

    Locks the team's row, so that two who store at once make one version. Raises LabelSetError.
    """
    for problem in problems(spec.labels):
        raise problem
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        newest = LabelSet.objects.filter(team=team, key=spec.key).order_by("-version").first()
        if newest is not None and newest.digest == spec.digest:
            return newest, False
        row = LabelSet.objects.create(
            team=team,
            key=spec.key,
            version=newest.version + 1 if newest else 1,
            name=spec.name,
            kind=spec.kind,
            source=spec.source,
            licence=spec.licence,
            digest=spec.digest,
        )
        Label.objects.bulk_create(_label(row, position, label) for position, label in enumerate(spec.labels, start=1))
        _copy_cohort_labels(newest, row)
        if actor is not None:
            scope, target = f"team:{team.pk}", f"label_set:{row.pk}"
            record(actor, "label_set.stored", scope=scope, target=target, key=row.key, n=len(spec.labels))
    return row, True


def _label(label_set: LabelSet, position: int, label: LabelSpec) -> Label:
    values = {name: getattr(label, name) for name in FIELDS}
    return Label(label_set=label_set, position=position, aliases=list(label.aliases), **values)


def _copy_cohort_labels(before: LabelSet | None, after: LabelSet) -> None:
    """A cohort keeps its label in the next version where that has the same key."""
    labels = {label.key: label for label in after.labels.all()}
    for row in CohortLabel.objects.filter(label_set=before).select_related("label") if before else ():
        if row.label.key in labels:
            CohortLabel.objects.create(cohort=row.cohort, label_set=after, label=labels[row.label.key])


def import_set(
    team: Team, name: str, labels: Sequence[LabelSpec], actor: User, *, key: str = "", kind: str = "other",
    source: str = "", licence: str = "",
) -> tuple[LabelSet, bool]:  # fmt: skip
    """A set from a file, and whether it is a new version: the same content again makes none. `key`: of the set of
    which this is the next version; empty: the one that the name makes.

    Raises LabelSetError; its code is `reserved` where the key belongs to a built-in set, `no_name` without a name.
    """
    own_key = key or slug(name)[:80].strip("-")
    if not name.strip() or not own_key:
        raise LabelSetError("no_name", name)
    if is_reserved(own_key):
        raise LabelSetError("reserved", own_key)
    spec = LabelSetSpec(own_key, name.strip(), kind, tuple(labels), source.strip(), licence.strip())
    return store(team, spec, actor)


def create_typed(
    team: Team, name: str, lines: str, actor: User, *, key: str = "", kind: str = "other"
) -> tuple[LabelSet, bool]:
    """A set of labels typed one per line. Raises LabelSetError."""
    return import_set(team, name, typed_labels(lines), actor, key=key, kind=kind)


def typed_labels(lines: str) -> list[LabelSpec]:
    """One label per line, exactly as written but for white space at its ends; empty lines are left out."""
    return keyed_labels([LabelSpec(key="", text=line.strip()) for line in lines.splitlines() if line.strip()])


def keyed_labels(labels: Sequence[LabelSpec]) -> list[LabelSpec]:
    """The same labels, each without a key with one made from its text; the same texts get the same keys."""
    used = {label.key for label in labels if label.key}
    keyed = []
    for label in labels:
        key, number = label.key or (slug(label.text) or label.text)[:MOST_LETTERS], 1
        while not label.key and key in used:
            number += 1
            key = f"{(slug(label.text) or label.text)[: MOST_LETTERS - 10]}-{number}"
        used.add(key)
        keyed.append(replace(label, key=key))
    return keyed


@transaction.atomic
def set_cohort_label(cohort: Cohort, label_set: LabelSet, label: Label | None, actor: User) -> None:
    """Say which label of a set a cohort's people belong to; None: none of them. Cohort and set are of one team.

    Runs over the set ask about the cohort's own items from then on; units that exist do not change.
    """
    if cohort.team_id != label_set.team_id or (label is not None and label.label_set_id != label_set.pk):
        raise ValueError("cohort, set and label are not of one team and set")
    rows = CohortLabel.objects.filter(cohort=cohort, label_set=label_set)
    if label is None:
        rows.delete()
    else:
        CohortLabel.objects.update_or_create(cohort=cohort, label_set=label_set, defaults={"label": label})
    record(
        actor, "cohort.label_set", scope=f"team:{cohort.team_id}", target=f"cohort:{cohort.pk}",
        label_set=label_set.reference, label=label.key if label else "",
    )  # fmt: skip
