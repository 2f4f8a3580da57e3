from django.urls import path

from people.views import cohorts, joining, me, session, sign_in, teams

app_name = "people"
urlpatterns = [
    path("sign-in", sign_in.SignIn.as_view(), name="sign_in"),
    path("sign-in/here", session.here, name="sign_in_here"),
    path("sign-out", sign_in.SignOut.as_view(), name="sign_out"),
    path("language/", sign_in.language, name="language"),
    path("password/forgotten", sign_in.Forgotten.as_view(), name="password_forgotten"),
    path("password/sent", sign_in.ForgottenSent.as_view(), name="password_sent"),
    path("password/new/<uidb64>/<token>/", sign_in.NewPassword.as_view(), name="password_new"),
    path("me", me.me, name="me"),
    path("me/password", sign_in.ChangePassword.as_view(), name="password_change"),
    path("consent/<int:team_id>", me.agree, name="consent"),
    path("consent/<int:team_id>/withdraw", me.withdraw, name="consent_withdraw"),
    path("invitation/<str:token>", joining.invitation, name="invitation"),
    path("link/<str:token>", joining.sign_in_link, name="link"),
    path("teams/", teams.team_list, name="teams"),
    path("teams/new", teams.team_new, name="team_new"),
    path("teams/<slug:slug>/", teams.team, name="team"),
    path("teams/<slug:slug>/invite", teams.team_invite, name="team_invite"),
    path("teams/<slug:slug>/members/<int:user_id>/role", teams.member_role, name="member_role"),
    path("teams/<slug:slug>/members/<int:user_id>/remove", teams.member_remove, name="member_remove"),
    path("teams/<slug:slug>/consent", teams.consent_texts, name="consent_texts"),
    path("teams/<slug:slug>/consent/<int:number>", teams.consent_version, name="consent_version"),
    path("teams/<slug:slug>/cohorts/new", cohorts.cohort_new, name="cohort_new"),
    path("invitations/<int:invitation_id>/revoke", teams.invitation_revoke, name="invitation_revoke"),
    path("cohorts/<int:cohort_id>/", cohorts.cohort, name="cohort"),
    path("cohorts/<int:cohort_id>/edit", cohorts.cohort_edit, name="cohort_edit"),
    path("cohorts/<int:cohort_id>/invite", cohorts.cohort_invite, name="cohort_invite"),
    path("cohorts/<int:cohort_id>/managers", cohorts.manager_add, name="manager_add"),
    path("cohorts/<int:cohort_id>/managers/<int:user_id>/remove", cohorts.manager_remove, name="manager_remove"),
    path("memberships/<int:member_id>/end", cohorts.membership_end, name="membership_end"),
    path("memberships/<int:member_id>/sign-in-link", cohorts.sign_in_link, name="sign_in_link"),
]
