from __future__ import annotations

import re

from django.db import migrations

_EXAMPLES = re.compile(r"^# Examples: of documents ([\d, ]+) of the study ", re.MULTILINE)
_CALIBRATION = re.compile(r"^# Fitted: calibration (\d+), fitted to ", re.MULTILINE)


def fill(apps, schema_editor):
    """Which rows judges from before were fitted to, as their prompts say. What a stacker was fitted to no prompt says:
    it stays unknown, as does what names no rows any more. Copies, arms and averages were fitted to none themselves."""
    Origin = apps.get_model("judges", "Origin")
    FittedCalibration = apps.get_model("judges", "FittedCalibration")
    for origin in Origin.objects.filter(rows__isnull=True).select_related("judge__prompt"):
        rows = [] if origin.how in ("copy", "arm", "average") else None
        text = origin.judge.prompt.text
        if origin.how == "examples" and (named := _EXAMPLES.findall(text)):
            rows = sorted({int(row) for documents in named for row in documents.split(",")})
        if origin.how == "calibration" and (named := _CALIBRATION.search(text)):
            calibration = FittedCalibration.objects.filter(pk=int(named[1])).first()
            rows = calibration.lineage["rows"] if calibration is not None else None
        if rows is not None:
            Origin.objects.filter(pk=origin.pk).update(rows=rows)


class Migration(migrations.Migration):
    dependencies = [("judges", "0017_rows_that_judges_were_fitted_to")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
