from django.urls import path

from annotation.views import (
    answer_files,
    answers,
    campaigns,
    chain_opening,
    cohorts,
    composer,
    composer_preview,
    consent,
    coverage,
    history,
    instructions,
    pictures,
    protocol,
    review_samples,
    reviews,
    work,
)

app_name = "annotation"
urlpatterns = [
    # a benchmark's campaigns, for those who plan them
    path("b/<slug:slug>/coverage/", coverage.page, name="coverage"),
    path("b/<slug:slug>/coverage/action/", coverage.perform_action, name="coverage_action"),
    path("b/<slug:slug>/stages/", composer.stages, name="stages"),
    path("b/<slug:slug>/stages/<int:stage_id>/", composer.edit_stage, name="compose"),
    path("b/<slug:slug>/stages/<int:stage_id>/preview/", composer_preview.preview, name="compose_preview"),
    path("b/<slug:slug>/stages/<int:stage_id>/versions/", composer.stage_versions, name="stage_versions"),
    path("b/<slug:slug>/chain/open/", chain_opening.open_page, name="chain_open"),
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
    # the review queue
    path("b/<slug:slug>/review/", reviews.queue, name="review_queue"),
    path("b/<slug:slug>/review/<int:annotation_id>/", reviews.review, name="review"),
    path("b/<slug:slug>/review/<int:annotation_id>/decide/", reviews.decide, name="review_decide"),
    path("b/<slug:slug>/review/undo/<int:review_id>/", reviews.undo, name="review_undo"),
    path("b/<slug:slug>/review/samples/", review_samples.samples, name="review_samples"),
    path("b/<slug:slug>/review/stages/<int:stage_id>/draw/", review_samples.draw, name="review_draw"),
    path("b/<slug:slug>/review/stages/<int:stage_id>/accept/", review_samples.accept_all, name="review_accept_all"),
    path("b/<slug:slug>/review/samples/<int:batch_id>/accept/", review_samples.accept, name="review_accept_others"),
    path("b/<slug:slug>/review/samples/<int:batch_id>/undo/", review_samples.undo, name="review_undo_batch"),
    # cohorts and their people, and annotators' work
    path("cohorts/<int:cohort_id>/", cohorts.cohort, name="cohort"),
    path("memberships/<int:member_id>/end", cohorts.member_end, name="member_end"),
    path("memberships/<int:member_id>/reactivate", cohorts.member_reactivate, name="member_reactivate"),
    path("consent/<int:team_id>", consent.agree, name="consent"),
    path("consent/<int:team_id>/withdraw", consent.withdraw, name="consent_withdraw"),
    path("work/", work.work, name="work"),
    path("work/<int:campaign_id>/", work.sheet, name="sheet"),
    path("work/<int:campaign_id>/ready/", protocol.ready, name="ready"),
    path("assignments/<int:assignment_id>/submit", answers.submit, name="submit"),
    path("assignments/<int:assignment_id>/skip", answers.skip, name="skip"),
    path("assignments/<int:assignment_id>/undo", answers.undo, name="undo"),
    path("assignments/<int:assignment_id>/draft", answers.draft, name="draft"),
    path("assignments/<int:assignment_id>/picture", pictures.upload_picture, name="picture"),
    path("assignments/<int:assignment_id>/report", answers.report, name="report"),
    path("assignments/<int:assignment_id>/change", history.reopen_answer, name="change"),
    path("assignments/<int:assignment_id>/leave", history.cancel_change, name="leave"),
    path("work/history/", history.history, name="history"),
]
