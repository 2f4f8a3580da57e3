"""Why an answer does not count, in words for researchers."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

WHY_UNCOUNTED: Mapping[str, Any] = {
    "surplus": gettext_lazy("extra answer"),
    "excluded": gettext_lazy("the person is excluded"),
    "rejected": gettext_lazy("rejected in review"),
    "closed": gettext_lazy("the campaign was closed"),
    "no_consent": gettext_lazy("no consent"),
    "not_a_member": gettext_lazy("no longer in the cohort"),
    "repeat": gettext_lazy("repeated model request"),
}
