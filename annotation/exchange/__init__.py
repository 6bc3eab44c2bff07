"""Rows and labels in and out: tables, CSV, JSON lines, Label Studio's tasks, workbooks."""
