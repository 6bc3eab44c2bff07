"""Scripts that the server puts together."""

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
    bundle = scripts.bundle(page)
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(bundle.zipped if zipped else bundle.text, content_type="text/javascript; charset=utf-8")
    if zipped:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    # A page that is older than the scripts, as while a new version is put in, gets the new ones and does not keep them.
    kept = digest == bundle.digest
    response["Cache-Control"] = "public, max-age=31536000, immutable" if kept else "no-store"
    return response
