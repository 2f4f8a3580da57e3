"""Any number of pictures as a contact sheet: groups of look-alikes, nearest together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.displays.contract import DisplayDefaults, MessagePart, words
from annotation.displays.layout import PLAIN, Layout
from annotation.fields.contract import Shown, ShownImage
from annotation.fields.grouping.spec import clusters, picture_names


@dataclass(frozen=True)
class ContactPicture:
    """`near`: the numbers of the nearest pictures with how alike they are, as "4:0.95 2:0.93"."""

    number: int
    image: ShownImage
    near: str


@dataclass(frozen=True)
class NearDuplicateGroup:
    """`number` 0: pictures like no other, or where they were not compared (`is_compared`), all pictures. `low`, `high`:
    how alike two of the group are, over all known pairs."""

    number: int
    pictures: Sequence[ContactPicture]
    low: str = ""
    high: str = ""
    is_compared: bool = True


class ContactDisplay(DisplayDefaults):
    key = "contact"
    roles: tuple[str, ...] = ()
    template = "annotation/displays/contact.html"
    script = "js/displays/contact.js"
    style = "css/contact.css"

    def to_messages(self, shown: Shown, layout: Layout = PLAIN) -> list[MessagePart]:
        """The pictures by name and in role order, so that what a person saw together gives a model no hint."""
        parts = words(shown.text)
        for image in shown.images:
            parts += [MessagePart("text", text=f"{image.role}:"), MessagePart("image", sha=image.sha)]
        return parts


def build_contact_groups(shown: Shown) -> list[NearDuplicateGroup]:
    """The sheet as it is drawn; pictures that look like no other come last, together."""
    order = picture_names(shown)
    number = {name: at for at, name in enumerate(order, start=1)}
    images = {image.role: image for image in shown.images}
    near: Mapping[str, Any] = shown.context.get("near") or {}

    def picture(name: str) -> ContactPicture:
        neighbours = [f"{number[other]}:{alike:.2f}" for other, alike in near.get(name) or [] if other in number]
        return ContactPicture(number[name], images[name], " ".join(neighbours))

    groups = []
    for at, names in enumerate((cluster for cluster in clusters(shown) if len(cluster) > 1), start=1):
        own = set(names)
        alike = [value for name in names for other, value in near.get(name) or [] if other in own]
        ends = (f"{min(alike):.2f}", f"{max(alike):.2f}") if alike else ("", "")
        groups.append(NearDuplicateGroup(at, [picture(name) for name in names], *ends))
    alone = [cluster[0] for cluster in clusters(shown) if len(cluster) == 1]
    if not alone:
        return groups
    return [*groups, NearDuplicateGroup(0, [picture(name) for name in alone], is_compared=bool(groups or near))]


DISPLAY = ContactDisplay()
