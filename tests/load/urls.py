from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import path

from config.urls import urlpatterns as real


@login_required
def empty(request: HttpRequest) -> HttpResponse:
    """What a signed-in page costs before it does anything."""
    return HttpResponse("nothing")


urlpatterns = [path("empty", empty), *real]
