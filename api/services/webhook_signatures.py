"""Signatures by the Standard Webhooks scheme: HMAC-SHA256 over the message's id, its time and its body."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
BYTES = 32


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def signature_headers(message_id: str, timestamp: int, body: bytes, keys: Sequence[str]) -> dict[str, str]:
    """With one signature for each secret, for while one is replaced."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    signatures = [f"v1,{base64.b64encode(_digest(key, signed)).decode()}" for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def _digest(key: str, signed: bytes) -> bytes:
    return hmac.new(base64.b64decode(key.removeprefix(PREFIX)), signed, hashlib.sha256).digest()
