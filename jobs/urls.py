from django.urls import path

from jobs import views

app_name = "jobs"
urlpatterns = [
    path("jobs/<int:job_id>/", views.job, name="job"),
    path("jobs/<int:job_id>/progress/", views.progress, name="progress"),
    path("jobs/<int:job_id>/cancel/", views.cancel, name="cancel"),
    path("jobs/<int:job_id>/resume/", views.resume, name="resume"),
    path("jobs/<int:job_id>/rows.csv", views.rows_csv, name="rows"),
]
