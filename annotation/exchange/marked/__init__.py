"""Words that were marked in doccano, Prodigy, INCEpTION or brat: files of these, read as the tables that CSV files are.
Pure Python: no Django, no database.

`opening` knows a file by its first signs; a module of each program makes `documents` of it, `tables` lines of these.
"""
