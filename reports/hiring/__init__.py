"""Hiring a judge: the way from labelled by people to labelled by a judge, with a stated error.

Split → choose → certify → let it work → supervise; docs/hiring.md has what each step promises. All writes are in
`actions`; `cells` and `documents` are pure.
"""
