"""Scripts and style sheets that the server puts together."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_GET

from annotation import scripts


@login_not_required  # the same for everybody, and no secret
@require_GET
def script(request: HttpRequest, page: str, digest: str) -> HttpResponse:
    if page not in scripts.PAGES:
        raise Http404
    return _told(request, scripts.bundle(page), digest, "text/javascript")


@login_not_required  # as the scripts
@require_GET
def styles(request: HttpRequest, page: str, digest: str) -> HttpResponse:
    if page not in scripts.STYLES:
        raise Http404
    return _told(request, scripts.styles(page), digest, "text/css")


def _told(request: HttpRequest, bundle: scripts.Bundle, digest: str, kind: str) -> HttpResponse:
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(bundle.zipped if zipped else bundle.text, content_type=f"{kind}; charset=utf-8")
    if zipped:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    # A page that is older, as while a new version is put in, gets what is new and does not keep it.
    kept = digest == bundle.digest
    response["Cache-Control"] = "public, max-age=31536000, immutable" if kept else "no-store"
    return response
