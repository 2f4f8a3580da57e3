"""Recipes as they are sent."""

from rest_framework import serializers as s


class RecipeStage(s.Serializer):
    key = s.CharField()
    name = s.CharField()


class RecipeSerializer(s.Serializer):
    """`key` is what a new benchmark names as its `recipe`."""

    key = s.CharField()
    version = s.CharField()
    name = s.CharField()
    summary = s.CharField()
    citation = s.CharField()
    licence = s.CharField()
    stages = RecipeStage(many=True)
    cohorts = s.ListField(child=s.CharField(), help_text="Labels of the cultures that the benchmark asked.")
    conditions = s.ListField(child=s.CharField(), help_text="Keys.")
    concepts = s.ListField(child=s.CharField())
