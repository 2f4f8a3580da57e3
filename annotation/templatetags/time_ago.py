"""{{ moment|ago }}: how long ago it was, in words."""

from datetime import datetime

from django import template
from django.utils import timezone

from annotation.pages import status_text

register = template.Library()


@register.filter
def ago(moment: datetime) -> str:
    return status_text.time_ago(moment, timezone.now())
