"""The settings under test: the real ones, with a private database, and nothing that waits or leaves the machine."""

from tests import servers

servers.ensure()

from config.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
DATABASES["default"]["CONN_MAX_AGE"] = 60  # noqa: F405  (as in use, a request of a browser need not connect anew)
DATABASES["default"]["OPTIONS"]["options"] = ""  # noqa: F405  (a test is one transaction, and may think for long)
CELERY_BROKER_URL = "memory://"
SECRETS_KEYS = ["dGhpcyBrZXkgaXMgZm9yIHRlc3RzIGFuZCBub3RoaW4="]
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}  # noqa: F405
MEDIA_URL = "/media/"  # the live server would otherwise look for every address, "/", among the media
WHITENOISE_USE_FINDERS = True  # nothing is collected for tests
WHITENOISE_AUTOREFRESH = True  # looked for when asked for: else each new client reads every static file first
PLACE_SECONDS = 0  # a test changes a campaign, and looks at the sheet in the same moment
SPEAKER_TEXT_SECONDS = None  # tests that count queries would meet one that comes by the clock
