"""Pictures on pages: {% picture image alt sizes %}. Nothing else writes an <img> for an item."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchmarks.images import image_urls
from benchmarks.images.image_urls import HasImage

register = template.Library()
FALLBACK_WIDTH = 960


@register.simple_tag
def picture(
    image: HasImage, alt: str = "", sizes: str = "100vw", loading: str = "lazy", priority: str = "auto"
) -> SafeString:
    """An <img> in several widths. For the one picture of a page: loading="eager" priority="high"."""
    return format_html(
        '<img src="{}" srcset="{}" sizes="{}" width="{}" height="{}" alt="{}"'
        ' loading="{}" decoding="async" fetchpriority="{}">',
        image_urls.image_url(image, FALLBACK_WIDTH),
        image_urls.srcset(image),
        sizes,
        image.width,
        image.height,
        alt,
        loading,
        priority,
    )


@register.simple_tag
def image_url(image: HasImage, width: int) -> str:
    return image_urls.image_url(image, int(width))
