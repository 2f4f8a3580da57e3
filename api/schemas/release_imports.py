"""Releases that come back, as they are sent and read."""

from rest_framework import serializers as s


class ReleaseUpload(s.Serializer):
    upload = s.CharField(help_text="Name of a finished upload: the zip file of a release.")


class NewReleaseImport(s.Serializer):
    """A new benchmark, or a later version over the benchmark that an earlier one became."""

    upload = s.CharField(help_text="Name of a finished upload: the zip file of a release.")
    name = s.CharField(required=False, max_length=120, help_text="Of the new benchmark; without it as in the release.")
    slug = s.SlugField(required=False, max_length=50, help_text="Its address; without it one that is free.")
    benchmark = s.SlugField(required=False, help_text="Address of the benchmark that this is a later version of.")


class LaterVersion(s.Serializer):
    """A benchmark that a later version of the release became."""

    benchmark = s.CharField(help_text="Its address.")
    version = s.CharField()


class ReleaseContents(s.Serializer):
    """What a release holds, before anything is written."""

    name = s.CharField()
    slug = s.CharField()
    version = s.CharField()
    created_on = s.CharField()
    licence = s.CharField()
    made_by = s.CharField()
    pictures = s.BooleanField(help_text="Whether it has files of pictures.")
    counts = s.DictField(child=s.IntegerField(), help_text="Rows by kind.")
    later_version_of = s.ListField(child=s.CharField(), help_text="Addresses of benchmarks that it can go over.")
    earlier_version_of = LaterVersion(many=True, help_text="Benchmarks of a later version, which it cannot go over.")
