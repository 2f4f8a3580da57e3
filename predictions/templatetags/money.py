"""Amounts of US dollars on pages: cents where they are many, more places where a cent would hide them."""

from decimal import Decimal

from django import template
from django.template.defaultfilters import floatformat

register = template.Library()


@register.filter
def dollars(amount: Decimal) -> str:
    """1,204.50, 0.0039, 0.000540; the sign stands in the page."""
    if not amount:
        return "0"
    places = 2 if amount >= 1 else 4 if amount >= Decimal("0.001") else 6
    return floatformat(amount, f"{places}g")


@register.filter
def dollar_range(amounts: tuple[Decimal, Decimal]) -> str:
    """From the first to the second; one amount where both read the same."""
    low, high = map(dollars, amounts)
    return low if low == high else f"{low}–{high}"


@register.filter
def exact_amount(amount: Decimal) -> str:
    """As somebody gave it, and whole cents at least: 10.00, 0.001."""
    exponent = amount.normalize().as_tuple().exponent
    return floatformat(amount, f"{max(2, -int(exponent))}g")


@register.filter
def input_amount(amount: Decimal | None) -> str:
    """For a field that is typed in; empty of none."""
    return "" if amount is None else f"{amount.normalize():f}"
