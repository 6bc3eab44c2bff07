"""Asking search engines and fetching pages: what a careful visitor of the web does. Pure: no Django, no database.

`engines` asks; `recorded` reads results that were recorded elsewhere; `addresses` says when two name one page;
`fetching` visits what `base.web` lets be visited at all; `robots` and `optouts` read what a site asks of programs;
`archive` keeps what was fetched as WARC; `similar` finds pages that say the same.
"""
