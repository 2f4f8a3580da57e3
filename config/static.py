from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Hashed, compressed names; a name that was never collected still resolves, so tests and first pages work."""

    manifest_strict = False
    support_js_module_import_aggregation = True
