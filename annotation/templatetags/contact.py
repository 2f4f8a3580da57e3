"""The contact sheet on a page: {% contact_groups shown as groups %}."""

from django import template

from annotation.displays.contact import Group, groups_of
from annotation.fields.contract import Shown

register = template.Library()


@register.simple_tag
def contact_groups(shown: Shown) -> list[Group]:
    return groups_of(shown)
