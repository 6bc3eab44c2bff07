from __future__ import annotations

from django.db import migrations, models

import judges.lineage.models


class Migration(migrations.Migration):
    dependencies = [("judges", "0014_confine_judges_with_examples")]

    operations = [
        migrations.AlterField(
            model_name="origin",
            name="parent",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=judges.lineage.models.with_its_study,
                related_name="versions",
                to="judges.judge",
            ),
        ),
    ]
