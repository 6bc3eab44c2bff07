"""Single sign-on by SAML 2.0: who somebody is by what their university sends. allauth and python3-saml do the rest."""

from __future__ import annotations

import uuid
from typing import Any

from allauth.socialaccount.providers.saml.provider import SAMLProvider
from django.http import HttpRequest

from accounts.claims import refuse, text_problem, uid_problem

# What a login has among its data where its name is of this log-in alone.
PASSING = "of_this_log_in_alone"
_TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
# Subject identifiers of OASIS, then eduPerson's: eduPersonUniqueId and eduPersonPrincipalName. A name ID where there is
# none of them.
UID = (
    "urn:oasis:names:tc:SAML:attribute:subject-id",
    "urn:oasis:names:tc:SAML:attribute:pairwise-id",
    "urn:oid:1.3.6.1.4.1.5923.1.1.1.13",
    "urn:oid:1.3.6.1.4.1.5923.1.1.1.6",
)
# No attribute says that an address is verified: an account that has it already is not opened by it.
ATTRIBUTES = {
    "uid": UID,
    "username": ("urn:oid:0.9.2342.19200300.100.1.1", "uid"),
    "email": (*SAMLProvider.default_attribute_mapping["email"], "mail", "email"),
    "first_name": (*SAMLProvider.default_attribute_mapping["first_name"], "givenName"),
    "last_name": (*SAMLProvider.default_attribute_mapping["last_name"], "sn"),
}


class Provider(SAMLProvider):  # type: ignore[misc]
    """`SAML_UID` goes before `UID`."""

    default_attribute_mapping = ATTRIBUTES

    def _extract(self, data: Any) -> dict[str, Any]:
        found: dict[str, Any] = super()._extract(data)
        sent = data.get_attributes()
        named = [sent[name][0] for name in self.app.settings.get("uid", ()) if sent.get(name)]
        return {**found, "uid": named[0]} if named else found

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> Any:
        """An attribute may have anything in it, such as a name ID where an address is expected."""
        for name, said in self.extract_common_fields(response).items():
            if wrong := text_problem(said or "", name):
                refuse(request, wrong)
        if wrong := uid_problem(self.extract_uid(response), "uid"):
            refuse(request, wrong)
        return super().sociallogin_from_response(request, response)

    def extract_uid(self, data: Any) -> str:
        # By nothing at all nobody is known the next time either: allauth takes no login without a name.
        return str(super().extract_uid(data) or f"{PASSING} {uuid.uuid4()}")

    def extract_extra_data(self, data: Any) -> dict[str, Any]:
        unnamed = not data.get_nameid() or data.get_nameid_format() == _TRANSIENT
        passing = "uid" not in self._extract(data) and unnamed
        return {**data.get_attributes(), **({PASSING: True} if passing else {})}
