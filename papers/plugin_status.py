"""Benchmark plugins on the status page: which packages are installed, and which could not be registered."""

from django.utils.translation import gettext as _

from evaluation.queries.status import Problem, Status
from papers.plugins import BUILT_IN, FAILURES, REGISTERED


def add_plugins(status: Status) -> None:
    installed = [plugin.key for plugin in REGISTERED[len(BUILT_IN) :]]
    if installed:
        status.figures.append((_("Installed benchmark plugins"), ", ".join(installed)))
    for failure in FAILURES:
        text = _("The benchmark plugin “%(name)s” of the package %(package)s was not loaded: %(message)s")
        status.problems.append(
            Problem(
                text % {"name": failure.name, "package": failure.package, "message": failure.message},
                _("Install a compatible version or uninstall it, then restart Emic."),
            )
        )
