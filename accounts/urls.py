from __future__ import annotations

from django.urls import path

from accounts import api
from accounts.views import account, owner

app_name = "accounts"

urlpatterns = [
    path("account/", account.account, name="account"),
    path("account/tokens/<int:pk>/withdraw/", account.withdraw_token, name="withdraw-token"),
    path("account/data/", account.my_data, name="my-data"),
    path("account/leave/", account.leave, name="leave"),
    path("api/v1/docs/", api.docs, name="api-docs"),
    path("owner/", owner.overview, name="owner"),
    path("owner/models/<int:pk>/delete/", owner.delete_model, name="owner-delete-model"),
    path("owner/people/", owner.people, name="owner-people"),
    path("owner/people/<int:pk>/", owner.person, name="owner-person"),
    path("owner/tokens/<int:pk>/withdraw/", owner.withdraw_token, name="owner-withdraw-token"),
    path("owner/log/", owner.log, name="owner-log"),
    path("owner/log/csv/", owner.whole_log_csv, name="owner-log-csv"),
]
