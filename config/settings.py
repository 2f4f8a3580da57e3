"""Settings. Everything that differs between machines comes from the environment; see docs/reference/settings.md."""

from pathlib import Path

import environ
from celery.schedules import crontab

from config import catalogues, endpoints, languages, proxies
from config.schedule import with_expiry

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

VERSION = "0.2.0"
DATA_DIR = Path(env.str("EMIC_DATA", str(BASE_DIR / "data"))).resolve()
DEFAULT_KEY = "insecure-key-for-this-machine-only"  # refused outside debug by the check emic.E001
SECRET_KEY = env.str("EMIC_SECRET_KEY", DEFAULT_KEY)
DEBUG = env.bool("EMIC_DEBUG", False)
ALLOWED_HOSTS = env.list("EMIC_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("EMIC_ORIGINS", default=[])
HTTPS = env.bool("EMIC_HTTPS", False)
PROXY_TEXT = env.str("EMIC_PROXY", "")  # empty where nothing is said, which the check emic.E005 refuses with https
PROXY = proxies.count(PROXY_TEXT) or 0  # how many proxies add to X-Forwarded-For
DEMO = env.bool("EMIC_DEMO", False)
DEMO_SIGN_IN = env.bool("EMIC_DEMO_SIGN_IN", False)
PRACTICE_MODEL = env.str("EMIC_PRACTICE", "")  # where the practice model of `./emic run` answers

INSTALLED_APPS = [
    "config.apps.EmicConfig",
    "jobs",
    "people",
    "benchmarks",
    "annotation",
    "predictions",
    "evaluation",
    "releases",
    "papers",
    "papers.valueground",
    "api",
    "demo",
    "config.apps.EmicAdmin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "config.apps.StaticFiles",
    "django_htmx",
    "axes",
    "csp",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.SelectiveGZip",
    "config.headers.ContentSecurityPolicy",
    "config.database_guard.SilentDatabase",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "config.middleware.BodyLimits",
    "config.full_disk.FullDisk",
    "django.middleware.csrf.CsrfViewMiddleware",
    "people.sessions.middleware.SessionUserMiddleware",
    "config.headers.Headers",
    "people.locales.middleware.PersonLocaleMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "demo.views.tour_link",
            ],
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
        },
    }
]

# PostgreSQL only. ./emic run starts the embedded server and sets DATABASE_URL for its children.
DATABASES = {"default": env.db("DATABASE_URL", "postgres://emic@localhost/emic")}
DATABASES["default"]["ENGINE"] = "config.postgresql"
DB_POOL = env.int("EMIC_DB_POOL", 8)  # connections per process; 0 for none kept, which tests need
# A transaction that writes and is forgotten holds back the feed of events, so the server ends it. Readers have longer:
# see releases.rows.snapshot.
DB_OPTIONS = "-c idle_in_transaction_session_timeout=60s"
DATABASES["default"]["OPTIONS"] = {
    **DATABASES["default"].get("OPTIONS", {}),
    "options": f"{DATABASES['default'].get('OPTIONS', {}).get('options', '')} {DB_OPTIONS}".strip(),
    "pool": {"min_size": 1, "max_size": DB_POOL, "timeout": 10} if DB_POOL else False,
}
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", "redis://localhost:6379/0")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A task that outlives the visibility timeout is delivered twice; leases in Postgres decide who works.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 6 * 3600,
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
    # A broker that hangs is given up, where it would hold a request or the worker for good.
    "socket_timeout": 5,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
    "health_check_interval": 10,
}
CELERY_BROKER_CONNECTION_TIMEOUT = 3
JOB_LEASE_SECONDS = env.int("EMIC_JOB_LEASE", 60)  # after which the work of a worker that died is another's
_SCHEDULE = {
    "release-expired-leases": {"task": "annotation.release_expired", "schedule": 60.0},
    "slots-for-new-items": {"task": "annotation.fill_open_campaigns", "schedule": 60.0},
    "complete-campaigns": {"task": "annotation.record_complete", "schedule": 60.0},
    "derived-items": {"task": "annotation.derive_unnoticed", "schedule": 60.0},
    "facts-of-new-items": {"task": "predictions.start_fact_jobs", "schedule": 60.0},
    "runs-that-follow": {"task": "predictions.follow_new_items", "schedule": 60.0},
    "images-to-make-again": {"task": "predictions.return_images", "schedule": 30.0},
    "checks-of-withdrawn-pictures": {"task": "predictions.follow_linked_items", "schedule": 60.0},
    "queries-that-people-write": {"task": "predictions.follow_written_queries", "schedule": 60.0},
    "answers-after-withdrawals": {"task": "annotation.follow_withdrawals", "schedule": 600.0},
    "disagreement-of-items": {"task": "annotation.renew_item_tallies", "schedule": 60.0},
    "agreement-on-boards": {"task": "evaluation.renew_boards", "schedule": 60.0},
    "requeue-stalled-jobs": {"task": "jobs.requeue_stalled", "schedule": JOB_LEASE_SECONDS / 2},
    "sweep-uploads": {"task": "jobs.sweep_uploads", "schedule": 3600.0},
    "delete-old-exports": {"task": "releases.delete_old_exports", "schedule": crontab(minute="20")},
    "show-that-it-beats": {"task": "evaluation.beat", "schedule": 60.0},
    "clean-up-accounts": {"task": "people.clean_up", "schedule": crontab(minute="10")},
    "forget-api-requests": {"task": "api.forget_requests", "schedule": crontab(minute="40")},
    "send-webhooks": {"task": "api.send_webhooks", "schedule": 5.0, "options": {"expires": 60}},
    "send-mail": {"task": "people.send_mail", "schedule": 5.0, "options": {"expires": 60}},
}
CELERY_BEAT_SCHEDULE = with_expiry(_SCHEDULE)
CELERY_TASK_ALWAYS_EAGER = False

# Without EMAIL_URL there is no mail server: letters are kept as rows that say so, and nothing is printed.
vars().update(env.email("EMAIL_URL", default="consolemail://"))
EMAIL_TIMEOUT = env.int("EMIC_EMAIL_TIMEOUT", 10)  # seconds that the worker waits for each answer
OPERATOR = env.str("EMIC_OPERATOR", "")
FOOTER_LINKS = env.str("EMIC_FOOTER_LINKS", "")
DEFAULT_FROM_EMAIL = env.str("EMIC_FROM_EMAIL", "Emic <emic@localhost>")

AUTH_USER_MODEL = "people.User"
SILENCED_SYSTEM_CHECKS = ["auth.W004"]  # the e-mail is unique, whatever its capitals: by a constraint on lower(email)
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "people:sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "people:sign_in"
AXES_USERNAME_FORM_FIELD = "username"  # its own guess is the model field, which no sign-in form uses
AXES_USERNAME_CALLABLE = "people.services.limits.login_throttle_keys.throttle_name"
AXES_CLIENT_IP_CALLABLE = "people.services.limits.login_throttle_keys.client_address"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "people/locked_out.html"
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False  # its pages delete rows, and leave no event
SESSION_COOKIE_AGE = 30 * 86400
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_ENGINE = "people.sessions.store"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "blob:", "data:"],
        "connect-src": ["'self'"],
        "font-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
        "manifest-src": ["'self'"],
    }
}

# REST. Of its framework nothing is an installed app: there is no browsable page, so there are no assets of it either.
API_RATE = env.str("EMIC_API_RATE", "120/min")  # requests of one person
API_TEAM_RATE = env.str("EMIC_API_TEAM_RATE", "600/min")  # of all people and programs of a team together
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "api.protocol.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_THROTTLE_CLASSES": ["api.protocol.limits.Throttle"],
    "DEFAULT_THROTTLE_RATES": {"person": API_RATE, "team": API_TEAM_RATE},
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "api.protocol.problems.handle",
    "UNICODE_JSON": True,
    "URL_FORMAT_OVERRIDE": None,  # unknown parameters are refused
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Emic",
    "DESCRIPTION": "What the pages of your benchmarks do, for programs, by the same rules and with the same numbers.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SERVERS": [],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "api.protocol.openapi_hooks.allow_null_as_any",
        "api.protocol.openapi_hooks.add_long_addresses",
        "api.protocol.openapi_examples.add_examples",
    ],
    "ENUM_NAME_OVERRIDES": {
        "RowFormatEnum": ["csv", "jsonl", "parquet"],
        "KindEnum": ["items", "answers"],
        "EndpointKindEnum": "api.schemas.endpoints.KINDS",
        "LabelSetKindEnum": "api.schemas.label_sets.KINDS",
        "TableKindEnum": "api.schemas.table_specs.KINDS",
        "RoleEnum": "api.schemas.memberships.ROLES",
        "TeamRoleEnum": "api.schemas.memberships.TEAM_ROLES",
    },
}

LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "locale"]
catalogues.compile_at_start(LOCALE_PATHS[0])
LANGUAGES, LANGUAGES_BIDI = languages.available_languages(LOCALE_PATHS[0])
# Languages that are kept complete for annotators. Each other catalogue is a draft: see docs/how-to/add-a-language.md
CONFIRMED_LANGUAGES = ["am", "ar", "pt-br"]
SPEAKER_TEXT_SECONDS = 10  # within which every process shows a text that a speaker has confirmed
FORMAT_MODULE_PATH = ["config.formats"]
# For languages whose dates neither Django nor config/formats knows.
DATE_FORMAT = SHORT_DATE_FORMAT = "j F Y"
MONTH_DAY_FORMAT = "j F"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j F Y, H:i"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "config.static_bundles.BundleFinder",
]
STATIC_ROOT = Path(env.str("EMIC_STATIC", str(DATA_DIR / "static")))
MEDIA_ROOT = DATA_DIR / "media"
# Vectors of local encoders, made again when they are asked for; and models that the operator put on this machine.
VECTORS_ROOT = DATA_DIR / "vectors"
MODELS_ROOT = Path(env.str("EMIC_MODELS", str(DATA_DIR / "models")))
HUB_MODELS = [name.strip() for name in env.list("EMIC_HUB_MODELS", default=[])]  # those that may be fetched
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": MEDIA_ROOT}},
    "staticfiles": {"BACKEND": "config.static.HashedStaticStorage"},
}
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000  # the form of a stage with many options in two languages
BODY_MAX_BYTES = 5 * 1024 * 1024  # of any request but an import and a picture

# Images: bounds on what is accepted, and the widths that pages ask for.
IMAGE_MAX_BYTES = 40 * 1024 * 1024
IMAGE_MAX_PIXELS = 80_000_000
IMAGE_WIDTHS = (240, 480, 960, 1440)
IMAGE_URL_SECONDS = 6 * 3600
IMPORT_MAX_BYTES = 4 * 1024**3
UPLOAD_MAX_BYTES = 20 * 1024 * 1024  # of one picture that an annotator brings
# Private networks that pictures may be fetched from.
FETCH_ALLOW = [network.strip() for network in env.list("EMIC_FETCH_ALLOW", default=[]) if network.strip()]

# Models. The keys encrypt the secrets of endpoints: the first does, all are tried for reading.
SECRETS_KEYS = env.list("EMIC_SECRETS_KEY", default=[])
PRIVATE_ENDPOINTS = endpoints.networks(env.str("EMIC_PRIVATE_ENDPOINTS", ""), ALLOWED_HOSTS)
METADATA_NETWORKS = endpoints.METADATA
LIMITS_URL = env.str("EMIC_LIMITS_URL", CELERY_BROKER_URL)  # Valkey, where workers share the limits of endpoints

UNDO_SECONDS = 30
PLACE_SECONDS = 2  # for which a web process draws sheets with campaign, stage and unusable items as it read them last

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("EMIC_LOG", "WARNING")},
    # They would write what is sent, and to whom, whatever EMIC_LOG says.
    "loggers": {name: {"level": "WARNING"} for name in ("httpx", "httpcore")},
}
