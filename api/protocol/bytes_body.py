"""Bodies that are bytes: parts of uploads, and pictures."""

from typing import Any, BinaryIO

from django.conf import settings
from rest_framework.parsers import BaseParser


class BytesParser(BaseParser):
    """Whatever type it says to be; at most as long as a picture may be."""

    media_type = "*/*"

    def parse(self, stream: BinaryIO, media_type: Any = None, parser_context: Any = None) -> bytes:
        return stream.read(settings.IMAGE_MAX_BYTES + 1)
