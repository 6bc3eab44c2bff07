"""What is uploaded, before any page reads it."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadhandler import FileUploadHandler, SkipFile


class OfSomebody(FileUploadHandler):
    """The first of the handlers: files of nobody are read to their end and kept nowhere. No form of a stranger has
    any, and what a request brings lies in the temporary folder until it is answered, which may be memory."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Raises SkipFile: nobody is logged in."""
        user = getattr(self.request, "user", None)
        if user is None or not user.is_authenticated:
            raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data  # for the next handler

    def file_complete(self, file_size: int) -> None:
        return None
