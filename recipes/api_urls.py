from __future__ import annotations

from recipes import packs

urlpatterns = [*packs.urls("api_urls")]
