"""One picture, whole, on the stage."""

from annotation.displays.contract import Part
from annotation.fields.contract import Shown


class ImageDisplay:
    key = "image"
    roles: tuple[str, ...] = ("image",)
    needs_text = False
    template = "annotation/displays/image.html"
    script = ""
    style = ""

    def to_messages(self, shown: Shown) -> list[Part]:
        images = [Part("image", sha=image.sha) for image in shown.images if image.role in self.roles]
        return [*images, *([Part("text", text=shown.text)] if shown.text else [])]


DISPLAY = ImageDisplay()
