"""What who runs an installation has: backups, logs, metrics, health, and an alarm when work stands still.

`tables` turns rows into lines and back, `backups` is the file, `queries` reads (a backup, what health says), `actions`
writes (a restored backup, the alarm), `metrics` counts requests in memory. Nothing here knows what a study is: tables
are found by Django, work by `work.kinds`.
"""
