import time

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from benchmarks.images import image_urls
from benchmarks.images.pictures import ENCODER, NotAPicture
from benchmarks.services.derivatives import derivative


@require_safe
def image(request: HttpRequest, signed: str) -> HttpResponseBase:
    """A derivative. The signed address is the authority: it names one picture, one width and an end."""
    grant = image_urls.parse_grant(signed)
    if grant is None:
        raise Http404
    response: HttpResponseBase
    tag = f'"{ENCODER}-{grant.sha[:24]}-{grant.width}"'
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        try:
            name = derivative(grant.sha, grant.width)
        except (FileNotFoundError, NotAPicture) as error:
            raise Http404 from error
        response = FileResponse(default_storage.open(name, "rb"), content_type="image/webp")
        response.headers["Content-Disposition"] = "inline"
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = f"private, max-age={grant.expires - int(time.time())}, immutable"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return response
