from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "people"

    def ready(self) -> None:
        from jobs import access
        from jobs.services import kinds
        from people.pages.job_scope import job_scope
        from people.services.inviting.invite_import import INVITE

        access.register_scope("team", job_scope)
        kinds.register(INVITE)
