from celery import shared_task
from django.utils import timezone

from releases.services import export_files


@shared_task(name="releases.delete_old_exports")
def delete_old_exports() -> int:
    return export_files.delete_old(timezone.now())
