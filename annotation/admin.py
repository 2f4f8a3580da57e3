"""For looking things up. Work is changed on the pages, whose services keep the counters true and leave a trace."""

from django.contrib import admin

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Exclusion, ProblemReport
from jobs.views.model_admin import ReadOnlyAdmin


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    list_display = ["id", "name", "stage", "state", "opens_on", "closes_on", "opened_at", "closed_at"]
    list_filter = ["state"]
    list_select_related = ["stage"]
    search_fields = ["name"]


@admin.register(CampaignCohort)
class CampaignCohortAdmin(ReadOnlyAdmin):
    list_display = ["id", "campaign", "cohort", "target_answers", "paused"]
    list_select_related = ["campaign", "cohort"]


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["id", "campaign", "unit_id", "rater_id", "state", "in_hand", "lease_until", "changed_at"]
    list_filter = ["state"]
    list_select_related = ["campaign"]
    show_full_result_count = False


@admin.register(Annotation)
class AnnotationAdmin(ReadOnlyAdmin):
    list_display = ["id", "assignment_id", "rater_id", "version", "live", "counted", "submitted_at"]
    list_filter = ["live", "counted"]
    show_full_result_count = False


@admin.register(Exclusion)
class ExclusionAdmin(ReadOnlyAdmin):
    list_display = ["id", "benchmark", "rater_id", "reason", "by", "at", "lifted_at", "lifted_by"]
    list_select_related = ["benchmark", "by", "lifted_by"]


@admin.register(ProblemReport)
class ProblemReportAdmin(ReadOnlyAdmin):
    list_display = ["id", "assignment_id", "rater_id", "text", "at", "answered_at"]
