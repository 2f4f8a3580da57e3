import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

from config.checks import refuse_mistakes  # noqa: E402  (needs settings)
from config.middleware import Request  # noqa: E402

application.request_class = Request
refuse_mistakes()
