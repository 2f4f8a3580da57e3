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
