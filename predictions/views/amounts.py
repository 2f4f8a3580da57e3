"""Amounts of money that somebody typed into a form of one field."""

from decimal import ROUND_DOWN, Decimal, InvalidOperation

from django.http import HttpRequest
from django.utils.translation import gettext as _

from predictions.services.runs.answer_runs import RunRefused


def posted_budget(request: HttpRequest) -> Decimal:
    """The field `budget`, in US dollars. Raises RunRefused."""
    try:
        typed = Decimal(request.POST.get("budget", "").strip().replace(",", "."))
        budget = typed.quantize(Decimal("0.0001"), ROUND_DOWN)
    except InvalidOperation:
        raise RunRefused(_("Give the new budget in dollars, as a number.")) from None
    if not budget.is_finite() or not 0 < budget < 10**8:
        raise RunRefused(_("Give the new budget in dollars, as a number."))
    return budget
