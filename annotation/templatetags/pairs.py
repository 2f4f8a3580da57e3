from django import template

from annotation.displays.pair import PairSide, sides_of
from annotation.fields.contract import Shown

register = template.Library()


@register.simple_tag
def sides(shown: Shown) -> list[PairSide]:
    return sides_of(shown)
