"""How an item is shown: to a person as a page, to a model as messages. Both are renderings of the same `Shown`."""

from annotation.displays.contract import Display, MessagePart
from annotation.displays.registry import DISPLAYS, UnknownDisplay, display
from annotation.fields.contract import Shown, ShownImage

__all__ = ["DISPLAYS", "Display", "MessagePart", "Shown", "ShownImage", "UnknownDisplay", "display"]
