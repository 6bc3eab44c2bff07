"""Judges' and extractors' runs become runs of the work machine: the same tables, with the same columns in both."""

from django.db import migrations, models


def note_queues(apps, schema_editor):
    """Runs knew their queue by their model's device alone."""
    for model, device in (("Run", "judge__model__device"), ("ExtractionRun", "extractor__model__device")):
        runs = apps.get_model("judges", model).objects
        on_gpu = runs.filter(**{device: "cuda"}).values_list("pk", flat=True)
        runs.filter(pk__in=list(on_gpu)).update(queue="gpu")


class Migration(migrations.Migration):

    dependencies = [
        ("judges", "0001_initial"),
    ]

    operations = [
        migrations.RenameField("extractionrun", "sent_at", "enqueued_at"),
        migrations.AddField("extractionrun", "enqueued_times", models.PositiveIntegerField(default=0)),
        migrations.AddField("extractionrun", "rests", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("extractionrun", "rest_until", models.DateTimeField(null=True)),
        migrations.AddField("extractionrun", "queue", models.CharField(default="cpu", max_length=20)),
        migrations.AddField("run", "queue", models.CharField(default="cpu", max_length=20)),
        migrations.AlterField(
            "extractionitem",
            "worker",
            models.CharField(blank=True, help_text="host:process that claimed it last", max_length=120),
        ),
        migrations.AlterField(
            "extractionitem",
            "not_before",
            models.DateTimeField(help_text="A failed attempt waits before the next.", null=True),
        ),
        migrations.RunPython(note_queues, migrations.RunPython.noop),
    ]
