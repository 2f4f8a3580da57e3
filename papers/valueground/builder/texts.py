"""Sentences for the codes of the builder: why a build ended, and which safeguard changed a decision."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

REASONS: dict[str, Any] = {
    "edit_rounds_spent": _("The edit rounds are used up. The newest pair is kept."),
    "replans_spent": _("No further plan is allowed. The newest pair is kept."),
    "no_critic": _("There is no critic in this configuration. People judge the pair."),
    "image_refused": _("The image service refused three pictures."),
    "declined": _("A model declined to answer."),
    "invalid_json": _("Three replies of a model could not be read. Resume to ask again."),
    "budget": _("The budget is used up. Raise the budget to go on."),
    "price": _("The price of a request is not known. Add it at the endpoint."),
    "person": _("A person stopped it."),
    "no_image": _("A picture could not be read."),
    "fault": _("An error of this site. It is in the log."),
}
"""Others are codes of predictions.texts.call_reasons."""
OVERRIDES: dict[str, Any] = {
    "accept_semantic": _("Accepted, but an issue of meaning was named: plan again."),
    "accept_issue": _("Accepted, but an issue was named: new instructions."),
    "text_visible": _("Accepted, but text is visible: new instructions."),
    "comment_open": _("Accepted, but the comment was not followed yet: new instructions."),
    "no_issue": _("A change was asked for without an issue: the critic is asked once more."),
    "no_issue_twice": _("Twice without an issue: new instructions for both pictures."),
    "targets_corrected": _("The pictures with issues are changed, not those that were named."),
    "identical": _("Pictures are the same: new instructions, without asking the critic."),
    "size_differs": _("A picture has another size: it is drawn again."),
    "repeated_instruction": _("The same instruction failed before: plan again."),
    "image_refused": _("The image service refused a picture: plan again."),
    "plan_rejected": _("The plan did not pass its checks: plan again."),
    "no_critic": REASONS["no_critic"],
    "edit_rounds_spent": REASONS["edit_rounds_spent"],
    "replans_spent": REASONS["replans_spent"],
}
