"""Programs of others that are called when something happens in a study: https://www.standardwebhooks.com.

What happens is put down by `outbox` in the transaction in which it happens, and called out by a worker (`delivering`),
which signs it (`signing`) and posts it (`posting`, pure).
"""
