from django.urls import include, path

from annotation.views import answers, history, pictures, work

app_name = "annotation"
urlpatterns = [
    path("", include("annotation.campaign_urls")),
    path("", include("annotation.review_urls")),
    path("work/", work.work, name="work"),
    path("work/<int:campaign_id>/", work.sheet, name="sheet"),
    path("work/<int:assignment_id>/submit", answers.submit, name="submit"),
    path("work/<int:assignment_id>/skip", answers.skip, name="skip"),
    path("work/<int:assignment_id>/undo", answers.undo, name="undo"),
    path("work/<int:assignment_id>/draft", answers.draft, name="draft"),
    path("work/<int:assignment_id>/picture", pictures.picture, name="picture"),
    path("work/<int:assignment_id>/report", answers.report, name="report"),
    path("work/<int:assignment_id>/change", history.change, name="change"),
    path("work/<int:assignment_id>/leave", history.leave, name="leave"),
    path("work/history/", history.history, name="history"),
]
