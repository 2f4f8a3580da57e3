"""What makes the site an app on a device: its manifest, its service worker, and the page that stands in for others
while there is no line."""

from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language, get_language_bidi
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

WORKER = Path(settings.BASE_DIR, "static/js/service-worker.js")
GROUND, MARK = "#f3f2ec", "#0a5c53"
ICONS = (("img/app-192.png", "192x192", "any"), ("img/app-512.png", "512x512", "any"),
         ("img/app-maskable-512.png", "512x512", "maskable"))  # fmt: skip


@require_safe
def manifest(_request: HttpRequest) -> HttpResponse:
    """What a device needs to install the site. It says nothing of anybody."""
    content = {
        "id": "/",
        "name": "Emic",
        "short_name": "Emic",
        "description": _("Your work"),
        "lang": get_language() or "en",
        "dir": "rtl" if get_language_bidi() else "ltr",
        "start_url": reverse("annotation:work"),
        "scope": "/",
        "display": "standalone",
        "background_color": GROUND,
        "theme_color": MARK,
        "icons": [
            {"src": static(name), "sizes": sizes, "type": "image/png", "purpose": purpose}
            for name, sizes, purpose in ICONS
        ],
    }
    return JsonResponse(content, content_type="application/manifest+json")


@require_safe
def service_worker(_request: HttpRequest) -> HttpResponse:
    """Served from the root, for a worker may only speak for pages below its own address. Browsers ask for it again by
    themselves, and take a changed one."""
    response = HttpResponse(_worker(), content_type="text/javascript; charset=utf-8")
    response.headers["Cache-Control"] = "no-cache"
    return response


@cache
def _worker() -> str:
    return WORKER.read_text("utf-8")


@never_cache
@login_required
@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Kept on the device with a pack. A script fills in what waits there."""
    return render(request, "annotation/pack/offline.html")
