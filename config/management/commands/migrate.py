"""Django's `migrate`, which first refuses a database that these migrations do not fit.

The migrations of 0.2.0 begin anew: the ones before were merged into one file per app. A database of an earlier commit
has names in `django_migrations` that no file has any more; so has a database of a later version.

It also takes a third of Django's time: after each operation Django makes the classes of all models anew that are
related to the changed one over any number of steps. A statement that adds something needs the class of its own model
alone, one that changes a field or a name needs those that relate to it directly, and before Python code of a migration
runs Django makes all of them anew anyway.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

BEFORE_0_2 = ("jobs", "0002_initial")  # applied in every database of an earlier commit, and never used again
LAST_COMMIT = "835201b"
TOO_OLD = (
    f"This database was written before Emic 0.2.0. Commit {LAST_COMMIT} is the last that can open it: run "
    "./emic backup there, export the answers, and import them into a new site."
)
TOO_NEW = (
    "This database was written by a later version of Emic (it has {names}). Install that version, or restore a "
    "backup of this one."
)


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        refuse_unknown(options.get("database") or DEFAULT_DB_ALIAS)
        with few_classes():
            super().handle(*args, **options)


# What ProjectState does for operations whose statements also look at the models that refer to the changed one.
LOOKS_BACK = ("alter_field", "remove_field", "rename_field", "rename_model")


@contextmanager
def few_classes() -> Iterator[None]:
    """Make no more classes of models anew than the next statement needs."""
    originals = {name: getattr(ProjectState, name) for name in (*LOOKS_BACK, "reload_model")}
    looks_back = False

    def reload_few(state: ProjectState, label: str, name: str, delay: bool = True) -> None:
        if looks_back:
            originals["reload_model"](state, label, name, delay=True)  # the direct relations
        elif "apps" in state.__dict__:
            state.is_delayed = True  # Python code of a migration waits for all classes
            state._reload({(label, name)})  # type: ignore[attr-defined]

    def with_relations(change: Callable[..., None]) -> Callable[..., None]:
        def changed(state: ProjectState, *args: Any, **options: Any) -> None:
            nonlocal looks_back
            looks_back = True
            try:
                change(state, *args, **options)
            finally:
                looks_back = False

        return changed

    ProjectState.reload_model = reload_few  # type: ignore[method-assign,assignment]
    for name in LOOKS_BACK:
        setattr(ProjectState, name, with_relations(originals[name]))
    try:
        yield
    finally:
        for name, method in originals.items():
            setattr(ProjectState, name, method)


def refuse_unknown(database: str) -> None:
    """Raise CommandError if the database has migrations of Emic that no file describes."""
    loader = MigrationLoader(connections[database])
    unknown = sorted(
        key for key in loader.applied_migrations or {} if key not in loader.disk_migrations and is_ours(key[0])
    )
    if BEFORE_0_2 in unknown:
        raise CommandError(TOO_OLD)
    if unknown:
        raise CommandError(TOO_NEW.format(names=", ".join(f"{app}.{name}" for app, name in unknown[:3])))


def is_ours(label: str) -> bool:
    """Whether an app is part of Emic. Libraries rename and merge their migrations as they like."""
    return (settings.BASE_DIR / label / "migrations").is_dir()
