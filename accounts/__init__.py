"""Who gets in, and what belongs to an account: log-in, single sign-on, second factors, sessions, tokens, personal data;
and what the owner of an installation looks after. allauth does what is the same everywhere; this says what is ours.
"""
