from django.urls import path

from jobs.views import jobs

app_name = "jobs"
urlpatterns = [
    path("jobs/<int:job_id>/", jobs.job, name="job"),
    path("jobs/<int:job_id>/progress/", jobs.progress, name="progress"),
    path("jobs/<int:job_id>/cancel/", jobs.cancel, name="cancel"),
    path("jobs/<int:job_id>/resume/", jobs.resume, name="resume"),
    path("jobs/<int:job_id>/rows.csv", jobs.rows_csv, name="rows"),
]
