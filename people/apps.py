from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "people"

    def ready(self) -> None:
        from jobs import access
        from people.pages.job_scope import job_scope

        access.register_scope("team", job_scope)
