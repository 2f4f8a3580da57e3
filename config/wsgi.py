import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_wsgi_application()

from config import database_guard  # noqa: E402  (needs settings)
from config.checks import run_checks_or_exit  # noqa: E402
from config.deadline import BodyBounds  # noqa: E402
from config.middleware import StrictRequest  # noqa: E402

database_guard.install()
django_application.request_class = StrictRequest
application = BodyBounds(django_application)
run_checks_or_exit()
reverse("home")  # imports all views, which the processes of gunicorn share
