from __future__ import annotations

import re

from django.db import migrations

_DRAWN = re.compile(r"^# Examples: of documents .* of the study ([^\s,]+), (?:seed \d+, )?labels ", re.MULTILINE)


def confine(apps, schema_editor):
    """Judges whose prompts say of which study their examples are."""
    Judge, Study = apps.get_model("judges", "Judge"), apps.get_model("annotation", "Study")
    for judge in Judge.objects.filter(study=None, prompt__text__contains="# Examples: ").select_related("prompt"):
        if drawn := _DRAWN.search(judge.prompt.text):
            study = Study.objects.filter(slug=drawn[1]).first()
            if study is not None:
                Judge.objects.filter(pk=judge.pk).update(study=study)


class Migration(migrations.Migration):
    dependencies = [("judges", "0013_examples_stay_in_their_study")]

    operations = [migrations.RunPython(confine, migrations.RunPython.noop)]
