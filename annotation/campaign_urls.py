"""Campaigns of a benchmark, for those who plan them. Included by annotation/urls.py."""

from django.urls import path

from annotation.views import answer_files, campaigns, composer, composer_preview, coverage, instructions

urlpatterns = [
    path("b/<slug:slug>/coverage/", coverage.page, name="coverage"),
    path("b/<slug:slug>/coverage/action/", coverage.perform_action, name="coverage_action"),
    path("b/<slug:slug>/stages/", composer.stages, name="stages"),
    path("b/<slug:slug>/stages/<int:stage_id>/", composer.edit_stage, name="compose"),
    path("b/<slug:slug>/stages/<int:stage_id>/preview/", composer_preview.preview, name="compose_preview"),
    path("b/<slug:slug>/stages/<int:stage_id>/versions/", composer.stage_versions, name="stage_versions"),
    path("b/<slug:slug>/campaigns/", campaigns.campaign_list, name="campaigns"),
    path("b/<slug:slug>/campaigns/new/", campaigns.create, name="campaign_new"),
    path("b/<slug:slug>/campaigns/<int:campaign_id>/", campaigns.detail, name="campaign"),
    path(
        "b/<slug:slug>/campaigns/<int:campaign_id>/answers/import/", answer_files.import_answers, name="answers_import"
    ),
    path(
        "b/<slug:slug>/campaigns/<int:campaign_id>/answers/<int:job_id>/withdraw/",
        answer_files.withdraw,
        name="answers_withdraw",
    ),
    path("b/<slug:slug>/campaigns/<int:campaign_id>/action/", campaigns.perform_action, name="campaign_action"),
    path("b/<slug:slug>/campaigns/<int:campaign_id>/close/", campaigns.close, name="campaign_close"),
    path(
        "b/<slug:slug>/campaigns/<int:campaign_id>/instructions/",
        instructions.edit_instructions,
        name="campaign_instruct",
    ),
    path("b/<slug:slug>/campaigns/<int:campaign_id>/cohorts/<int:row_id>/", campaigns.cohort, name="campaign_cohort"),
    path(
        "b/<slug:slug>/campaigns/<int:campaign_id>/problems/<int:problem_id>/",
        campaigns.problem,
        name="campaign_problem",
    ),
]
