"""The maker of images: an image that was returned with a comment is made again, by the plan that made it."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from benchmarks.models import Item, ItemReturn
from predictions.models import ImageOrder
from predictions.services.images import plans


class ImageServiceMaker:
    """Registered with annotation.services.revisions.makers."""

    key = "images"
    problems: dict[str, Any] = {
        "stopped": gettext_lazy("The plan that made this image was stopped, so it makes no next one."),
    }

    def accepts(self, item: Item) -> bool:
        return ImageOrder.objects.filter(created=item).exists()

    def start(self, item_return: ItemReturn, at: datetime) -> str:
        try:
            plans.order_revision(item_return.item, item_return.comment)
        except plans.ImagePlanRefused:
            return "stopped"
        return ""

    def waiting_text(self, item_return: ItemReturn) -> str:
        order = ImageOrder.objects.filter(replaces=item_return.item).order_by("-revision").first()
        if order is not None and order.state in (ImageOrder.State.REFUSED, ImageOrder.State.FAILED):
            return gettext("The image could not be made again. Undo the return to use this one.")
        return gettext("The image is being made again, with your comment.")

    def cancel(self, item_return: ItemReturn, at: datetime) -> None:
        plans.withdraw_revision(item_return.item)
