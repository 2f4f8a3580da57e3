from django.urls import include, path

from annotation.views import answers, cohorts, consent, history, pictures, protocol, work

app_name = "annotation"
urlpatterns = [
    path("", include("annotation.campaign_urls")),
    path("", include("annotation.review_urls")),
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
