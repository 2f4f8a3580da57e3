"""{% megabytes %}: how large a picture may be that a person brings."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def megabytes() -> int:
    return int(settings.UPLOAD_MAX_BYTES // 1024**2)
