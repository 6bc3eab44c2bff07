"""Words that were marked in doccano, Prodigy, INCEpTION or brat, or stand in files of CoNLL: read as the tables that
CSV files are.
Pure Python: no Django, no database.

`opening` knows a file by its first signs; a module of each program makes `documents` of it, `tables` lines of these.
"""
