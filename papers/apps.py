from django.apps import AppConfig


class PapersConfig(AppConfig):
    name = "papers"

    def ready(self) -> None:
        from evaluation.queries.status import register_status_part
        from papers import plugins
        from papers.plugin_status import add_plugins

        plugins.register_built_in()
        plugins.register_installed()
        register_status_part(add_plugins)
