"""A CAS server for the tests. Expects own.json in the working folder, and keeps its database there."""
import json
import sys

import django
from django.conf import settings
from django.core.management import call_command
from django.urls import include, path

with open("own.json") as file:
    own = json.load(file)

apps = ["auth", "contenttypes", "sessions", "messages", "staticfiles"]
settings.configure(
    SECRET_KEY="known to all tests",
    ALLOWED_HOSTS=["localhost", "127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib." + app for app in apps] + ["cas_server"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.locale.LocaleMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "cas.sqlite"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    # Tables come straight from the models: the steps that led to them take seconds.
    MIGRATION_MODULES={app: None for app in apps + ["cas_server"]},
    STATIC_URL="/static/",
    LANGUAGE_CODE="en",
    USE_TZ=True,
    # Cookies know no port: two of these on one host would take each other's.
    SESSION_COOKIE_NAME="cas%d" % own["port"],
    CSRF_COOKIE_NAME="cascsrf%d" % own["port"],
    CAS_AUTH_CLASS=__name__ + ".People",
    CAS_NEW_VERSION_HTML_WARNING=False,
    CAS_NEW_VERSION_EMAIL_WARNING=False,
    # Its pages would load these from the internet.
    CAS_COMPONENT_URLS={
        "bootstrap4_css": "data:text/css,",
        "bootstrap4_js": "data:text/javascript,",
        "jquery": "data:text/javascript,function jQuery() {}",
    },
)
django.setup()

from cas_server.auth import AuthUser  # noqa: E402 (the models need the settings)
from cas_server.models import ReplaceAttributName, ServicePattern  # noqa: E402


class People(AuthUser):
    def test_password(self, password):
        return self.username in own["users"] and password == own["users"][self.username]["password"]

    def attributs(self):
        return own["users"][self.username]["attributes"] if self.username in own["users"] else {}


urlpatterns = [path("cas/", include("cas_server.urls", namespace="cas_server"))]

if __name__ == "__main__":
    call_command("migrate", run_syncdb=True, verbosity=0, skip_checks=True)
    for place, pattern in enumerate(own["services"]):
        service = ServicePattern.objects.create(pattern=pattern, pos=place, user_field=own["user_field"])
        for name in ["email", "uid"]:
            ReplaceAttributName.objects.create(name=name, service_pattern=service)
    address = "127.0.0.1:%d" % own["port"]
    sys.stdout.flush()
    call_command("runserver", address, use_reloader=False, insecure_serving=True)
