"""The contact sheet on a page: {% contact_groups shown as groups %}."""

from django import template

from annotation.displays.contact_sheet import NearDuplicateGroup, build_contact_groups
from annotation.fields.contract import Shown

register = template.Library()


@register.simple_tag
def contact_groups(shown: Shown) -> list[NearDuplicateGroup]:
    return build_contact_groups(shown)
