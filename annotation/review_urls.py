"""The review queue. Included by annotation/urls.py."""

from django.urls import path

from annotation.views import reviews

urlpatterns = [
    path("b/<slug:slug>/review/", reviews.queue, name="review_queue"),
    path("b/<slug:slug>/review/<int:annotation_id>/", reviews.review, name="review"),
    path("b/<slug:slug>/review/undo/<int:review_id>/", reviews.undo, name="review_undo"),
]
