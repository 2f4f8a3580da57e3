from typing import Any

from django.urls import URLPattern, path, re_path, register_converter
from django.urls.converters import IntConverter
from drf_spectacular.views import SpectacularJSONAPIView

from api.views import (
    answers,
    benchmarks,
    campaigns,
    collections,
    decisions,
    docs,
    endpoints,
    events,
    exports,
    figures,
    images,
    imports,
    intake,
    items,
    jobs,
    label_sets,
    memberships,
    numbers,
    people,
    plans,
    plugin_rows,
    recipes,
    release_imports,
    releases,
    resolutions,
    review_batches,
    rows,
    runs,
    second_reviews,
    service_accounts,
    stage_inputs,
    stages,
    table_specs,
    team_people,
    uploads,
    webhooks,
)
from predictions.services.runs import answer_runs
from releases.rows.decisions import REVIEWS
from releases.rows.items import ITEMS
from releases.rows.registry import KINDS


class RowNumber(IntConverter):
    """Of a row: no more digits than the database can hold."""

    regex = "[0-9]{1,18}"


register_converter(RowNumber, "row")
B = "v1/benchmarks/<slug:slug>/"
T = "v1/teams/<slug:team>/"
ACCOUNT = f"{T}service-accounts/<row:account_id>/"
CAMPAIGN = f"{B}campaigns/<row:campaign_id>/"
RELEASE = f"{B}releases/<row:release_id>/"
STAGE = f"{B}stages/<slug:key>/"
BATCH = f"{B}review-batches/<row:batch_id>/"
PLAN = f"{B}plans/<row:plan_set_id>/"
RUN = f"{B}runs/<row:run_id>/"
W = "v1/webhooks/<row:webhook_id>/"


def action_paths(address: str, name: str, views: Any) -> list[URLPattern]:
    """One address for each of the module's ACTIONS on an object."""
    return [
        path(f"{address}{action}/", views.action_view(action, summary, act), name=f"{name}_{action}")
        for action, summary, act in views.ACTIONS
    ]


app_name = "api"
urlpatterns = [
    path("schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path("docs/", docs.page, name="docs"),
    path("v1/benchmarks/", benchmarks.BenchmarkList.as_view(), name="benchmarks"),
    path(B, benchmarks.BenchmarkDetail.as_view(), name="benchmark"),
    path(f"{B}agreement/", numbers.agreement_view("json"), name="agreement"),
    path(f"{B}agreement.csv", numbers.agreement_view("csv"), name="agreement_csv"),
    path(f"{B}agreement.tex", numbers.agreement_view("tex"), name="agreement_tex"),
    path(f"{B}agreement/refresh/", numbers.AgreementRefresh.as_view(), name="agreement_refresh"),
    path(f"{B}reports/", numbers.ReportList.as_view(), name="reports"),
    path(f"{B}reports/<slug:key>/", numbers.report_view("json"), name="report"),
    path(f"{B}reports/<slug:key>.csv", numbers.report_view("csv"), name="report_csv"),
    path(f"{B}reports/<slug:key>.tex", numbers.report_view("tex"), name="report_tex"),
    path(f"{B}tables/", numbers.TableList.as_view(), name="tables"),
    path(f"{B}tables/<slug:key>/", numbers.table_view("json"), name="table"),
    path(f"{B}tables/<slug:key>.csv", numbers.table_view("csv"), name="table_csv"),
    path(f"{B}tables/<slug:key>.tex", numbers.table_view("tex"), name="table_tex"),
    path(f"{B}tables/<slug:key>/refresh/", numbers.TableRefresh.as_view(), name="table_refresh"),
    path(f"{B}figures/", figures.FigureList.as_view(), name="figures"),
    path(f"{B}figures/<slug:key>/", figures.figure_view("json"), name="figure"),
    *[
        path(f"{B}figures/<slug:key>.{form}", figures.figure_view(form), name=f"figure_{form}")
        for form in ("csv", "svg", "png")
    ],
    path(f"{B}members/", memberships.RoleList.as_view(), name="members"),
    path(f"{B}members/<row:role_id>/", memberships.RoleDetail.as_view(), name="member"),
    path(f"{B}exclusions/", decisions.ExclusionList.as_view(), name="exclusions"),
    path(f"{B}exclusions/<row:exclusion_id>/", decisions.ExclusionDetail.as_view(), name="exclusion"),
    path(f"{B}resolutions/", resolutions.ResolutionList.as_view(), name="resolutions"),
    path(f"{B}resolutions/<row:resolution_id>/", resolutions.ResolutionDetail.as_view(), name="resolution"),
    path(
        f"{B}resolutions/<row:resolution_id>/withdraw/",
        resolutions.ResolutionWithdraw.as_view(),
        name="resolution_withdraw",
    ),
    path(f"{B}collections/", collections.CollectionList.as_view(), name="collections"),
    path(f"{B}collections/<row:collection_id>/", collections.CollectionDetail.as_view(), name="collection"),
    path(f"{B}table-specs/", table_specs.TableSpecList.as_view(), name="table_specs"),
    path(f"{B}table-specs/<slug:key>/", table_specs.TableSpecDetail.as_view(), name="table_spec"),
    path(f"{B}stages/", stages.StageList.as_view(), name="stages"),
    path(STAGE, stages.StageDetail.as_view(), name="stage"),
    path(f"{STAGE}draft/", stages.DraftView.as_view(), name="stage_draft"),
    path(f"{STAGE}publish/", stages.PublishView.as_view(), name="stage_publish"),
    path(f"{STAGE}versions/", stages.VersionList.as_view(), name="stage_versions"),
    path(f"{STAGE}filters/", intake.FiltersView.as_view(), name="stage_filters"),
    path(f"{STAGE}coverage/", intake.StageCoverageView.as_view(), name="stage_coverage"),
    path(f"{STAGE}inputs/", stage_inputs.StageInputsView.as_view(), name="stage_inputs"),
    path(f"{STAGE}second-reviews/", second_reviews.SecondReviewShareView.as_view(), name="stage_second_reviews"),
    path(f"{B}review-batches/", review_batches.ReviewBatchList.as_view(), name="review_batches"),
    path(BATCH, review_batches.ReviewBatchDetail.as_view(), name="review_batch"),
    path(f"{BATCH}answers/", review_batches.SampledAnswerList.as_view(), name="review_batch_answers"),
    *action_paths(BATCH, "review_batch", review_batches),
    path(f"{B}model-conditions/", plans.ModelConditionsView.as_view(), name="model_conditions"),
    path(f"{B}plans/", plans.PlanList.as_view(), name="plans"),
    path(f"{B}plans:preview/", plans.PlanPreviewView.as_view(), name="plan_preview"),
    path(PLAN, plans.PlanDetail.as_view(), name="plan"),
    path(f"{PLAN}cost/", plans.PlanCostView.as_view(), name="plan_cost"),
    *action_paths(PLAN, "plan", plans),
    path(f"{B}runs/", runs.RunList.as_view(), name="runs"),
    path(f"{B}runs:plan/", runs.RunPlanView.as_view(), name="run_plan"),
    path(RUN, runs.RunDetail.as_view(), name="run"),
    path(f"{RUN}calls/", runs.CallList.as_view(), name="run_calls"),
    path(f"{RUN}cost/", runs.RunCostView.as_view(), name="run_cost"),
    *[
        path(f"{RUN}{name}/", runs.action_view(name, summary, act, needs_key=name == "start"), name=f"run_{name}")
        for name, summary, act in (
            ("start", "Start a run that waits", answer_runs.resume),
            ("pause", "Send no more requests", answer_runs.pause),
            ("resume", "Go on where the run stopped", answer_runs.resume),
            ("stop", "End a run; its answers stay and count", answer_runs.stop),
            ("withdraw", "Keep a run and count it nowhere", answer_runs.withdraw),
            ("restore", "Count a withdrawn run again", answer_runs.restore),
        )
    ],
    path("v1/me/", people.MeView.as_view(), name="me"),
    path("v1/me/token/", people.MyTokenView.as_view(), name="me_token"),
    path("v1/recipes/", recipes.RecipeList.as_view(), name="recipes"),
    path("v1/events/", events.EventsView.as_view(), name="events"),
    path("v1/teams/", people.TeamList.as_view(), name="teams"),
    path(T, team_people.TeamDetail.as_view(), name="team"),
    path(f"{T}cohorts/<row:cohort_id>/managers/", team_people.ManagerList.as_view(), name="cohort_managers"),
    path(
        f"{T}cohorts/<row:cohort_id>/managers/<row:manager_id>/",
        team_people.ManagerDetail.as_view(),
        name="cohort_manager",
    ),
    path(f"{T}cohorts/", people.CohortList.as_view(), name="cohorts"),
    path(f"{T}cohorts/<row:cohort_id>/", people.CohortDetail.as_view(), name="cohort"),
    path(f"{T}cohorts/<row:cohort_id>/members/", people.MemberList.as_view(), name="cohort_members"),
    path(f"{T}cohorts/<row:cohort_id>/members/<row:member_id>/", people.MemberDetail.as_view(), name="cohort_member"),
    path(f"{T}members/", memberships.TeamMemberList.as_view(), name="team_members"),
    path(f"{T}members/<row:member_id>/", memberships.TeamMemberDetail.as_view(), name="team_member"),
    path(f"{T}service-accounts/", service_accounts.ServiceAccountList.as_view(), name="service_accounts"),
    path(ACCOUNT, service_accounts.ServiceAccountDetail.as_view(), name="service_account"),
    path(f"{ACCOUNT}tokens/", service_accounts.ServiceTokenList.as_view(), name="service_tokens"),
    path(
        f"{ACCOUNT}tokens/<row:token_id>/", service_accounts.ServiceTokenDetail.as_view(), name="service_account_token"
    ),
    path(f"{T}endpoints/", endpoints.EndpointList.as_view(), name="endpoints"),
    path(f"{T}endpoints/<row:endpoint_id>/", endpoints.EndpointDetail.as_view(), name="endpoint"),
    path(f"{T}endpoints/<row:endpoint_id>/check/", endpoints.EndpointCheck.as_view(), name="endpoint_check"),
    path(f"{T}label-sets/", label_sets.LabelSetList.as_view(), name="label_sets"),
    path(f"{T}label-sets/<row:label_set_id>/", label_sets.LabelSetDetail.as_view(), name="label_set"),
    path(f"{T}invitations/", team_people.TeamInvitationList.as_view(), name="invitations"),
    path(f"{T}invitations/<row:invitation_id>/", team_people.InvitationDetail.as_view(), name="invitation"),
    path(f"{B}campaigns/", campaigns.CampaignList.as_view(), name="campaigns"),
    path(CAMPAIGN, campaigns.CampaignDetail.as_view(), name="campaign"),
    path(f"{CAMPAIGN}progress/", campaigns.ProgressView.as_view(), name="campaign_progress"),
    path(f"{CAMPAIGN}coverage/", campaigns.CoverageView.as_view(), name="campaign_coverage"),
    path(f"{CAMPAIGN}cohorts/", campaigns.CampaignCohortList.as_view(), name="campaign_cohorts"),
    path(f"{CAMPAIGN}cohorts/<row:cohort_id>/", campaigns.CampaignCohortDetail.as_view(), name="campaign_cohort"),
    path(f"{CAMPAIGN}claims/", answers.ClaimList.as_view(), name="campaign_claims"),
    path("v1/assignments/<row:assignment_id>/", answers.AssignmentDetail.as_view(), name="assignment"),
    path("v1/assignments/<row:assignment_id>/draft/", answers.AnswerDraft.as_view(), name="answer_draft"),
    path("v1/assignments/<row:assignment_id>/submissions/", answers.SubmissionList.as_view(), name="submissions"),
    path(f"{CAMPAIGN}assignments/", campaigns.AssignmentList.as_view(), name="campaign_assignments"),
    *action_paths(CAMPAIGN, "campaign", campaigns),
    path("v1/jobs/", jobs.JobList.as_view(), name="jobs"),
    path("v1/jobs/<row:job_id>/", jobs.JobDetail.as_view(), name="job"),
    path("v1/jobs/<row:job_id>/rows/", jobs.JobRows.as_view(), name="job_rows"),
    path("v1/jobs/<row:job_id>/cancel/", jobs.JobCancel.as_view(), name="job_cancel"),
    path("v1/jobs/<row:job_id>/resume/", jobs.JobResume.as_view(), name="job_resume"),
    path("v1/webhooks/", webhooks.WebhookList.as_view(), name="webhooks"),
    path(W, webhooks.WebhookDetail.as_view(), name="webhook"),
    path(f"{W}secret/", webhooks.WebhookSecret.as_view(), name="webhook_secret"),
    path(f"{W}test/", webhooks.WebhookTest.as_view(), name="webhook_test"),
    path(f"{W}deliveries/", webhooks.DeliveryList.as_view(), name="webhook_deliveries"),
    path(f"{W}deliveries/<row:delivery_id>/", webhooks.DeliveryDetail.as_view(), name="webhook_delivery"),
    path(f"{W}deliveries/<row:delivery_id>/redeliver/", webhooks.Redelivery.as_view(), name="webhook_redeliver"),
    path("v1/uploads/", uploads.UploadList.as_view(), name="uploads"),
    path("v1/uploads/<slug:upload_key>/", uploads.UploadDetail.as_view(), name="upload"),
    path(f"{B}images/", images.ImageList.as_view(), name="images"),
    path(f"{B}images:missing/", images.ImagesMissing.as_view(), name="images_missing"),
    path(f"{B}images/<slug:sha256>/", images.ImageBytes.as_view(), name="image"),
    path(f"{B}imports/", imports.ImportList.as_view(), name="imports"),
    path(f"{B}imports:preview/", imports.ImportPreviewView.as_view(), name="import_preview"),
    path(f"{B}imports/<row:job_id>/withdraw/", imports.ImportWithdraw.as_view(), name="import_withdraw"),
    path(f"{B}items:batch/", items.ItemBatch.as_view(), name="items_batch"),
    path(f"{B}items:facts/", items.FactBatch.as_view(), name="items_facts"),
    path(f"{B}items/<row:item_id>/facts/", items.ItemFactsView.as_view(), name="item_facts"),
    *action_paths(f"{B}items/<row:row_id>/", "item", items),
    path(f"{B}exports/", exports.ExportList.as_view(), name="exports"),
    path(f"{B}exports/<row:job_id>/", exports.ExportDetail.as_view(), name="export"),
    path(f"{B}exports/<row:job_id>/file/", exports.ExportFileView.as_view(), name="export_file"),
    path(f"{T}release-imports/", release_imports.ReleaseImportList.as_view(), name="release_imports"),
    path(f"{T}release-imports:preview/", release_imports.ReleaseImportPreview.as_view(), name="release_import_preview"),
    path(f"{B}releases/", releases.ReleaseList.as_view(), name="releases"),
    path(RELEASE, releases.ReleaseDetail.as_view(), name="release"),
    path(f"{RELEASE}build/", releases.ReleaseBuild.as_view(), name="release_build"),
    path(f"{RELEASE}publish/", releases.ReleasePublish.as_view(), name="release_publish"),
    path(f"{RELEASE}withdraw/", releases.ReleaseWithdraw.as_view(), name="release_withdraw"),
    path(f"{RELEASE}diff/", releases.ReleaseDiff.as_view(), name="release_diff"),
    path(f"{RELEASE}files/", releases.ReleaseFileList.as_view(), name="release_files"),
    path(f"{RELEASE}files/<path:file_path>", releases.ReleaseFileView.as_view(), name="release_file"),
    path(f"{RELEASE}archive/", releases.ReleaseArchive.as_view(), name="release_archive"),
    *[
        path(
            f"{B}{kind.key}/",
            rows.list_view(kind, decisions.ReviewRows if kind is REVIEWS else rows.RowList),
            name=kind.key,
        )
        for kind in KINDS
    ],
    *plugin_rows.plugin_paths(B),
    *[path(f"{B}{kind.key}/count/", rows.count_view(kind), name=f"{kind.key}_count") for kind in KINDS],
    *[
        path(
            f"{B}{kind.key}/<row:row_id>/",
            rows.detail_view(kind, items.ItemDetail if kind is ITEMS else rows.RowDetail),
            name=kind.key.removesuffix("s"),
        )
        for kind in KINDS
        if len(kind.order) == 1
    ],
    re_path(r"^v1/", numbers.not_found, name="nothing"),
]
