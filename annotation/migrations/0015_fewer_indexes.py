"""No index where another one begins with the same column, and small ones of columns that are empty in most rows.

Each was written at every save and at each label of an import.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0014_statistics_of_raters"),
    ]

    operations = [
        migrations.AlterField(
            model_name="assignment",
            name="handed_to",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="Who has it instead.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="annotation.rater",
            ),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="plan",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="assignments",
                to="annotation.plan",
            ),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="rater",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="assignments",
                to="annotation.rater",
            ),
        ),
        migrations.AlterField(
            model_name="label",
            name="assignment",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="labels",
                to="annotation.assignment",
            ),
        ),
        migrations.AlterField(
            model_name="label",
            name="question",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="labels",
                to="annotation.question",
            ),
        ),
        migrations.AlterField(
            model_name="labelevent",
            name="assignment",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="annotation.assignment",
            ),
        ),
        migrations.AlterField(
            model_name="labelevent",
            name="before",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.option",
            ),
        ),
        migrations.AlterField(
            model_name="labelevent",
            name="by",
            field=models.ForeignKey(
                db_index=False,
                help_text="Who changed it, where that was somebody other than the rater.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(condition=models.Q(("plan__isnull", False)), fields=["plan"], name="assignment_planned"),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("handed_to__isnull", False)), fields=["handed_to"], name="assignment_handed_to"
            ),
        ),
        migrations.AddIndex(
            model_name="labelevent",
            index=models.Index(
                condition=models.Q(("before__isnull", False)), fields=["before"], name="label_event_before"
            ),
        ),
        migrations.AddIndex(
            model_name="labelevent",
            index=models.Index(condition=models.Q(("by__isnull", False)), fields=["by"], name="label_event_by"),
        ),
    ]
