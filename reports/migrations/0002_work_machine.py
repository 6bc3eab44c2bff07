"""Downloads become runs of the work machine: the same table, and one item of work for each.

A download that was waiting or being made is made by the next worker; how far it was is the item's now.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

ITEM_STATES = {"waiting": "queued", "working": "queued", "ready": "done", "failed": "failed"}
RUN_STATES = {"waiting": "running", "working": "running", "ready": "finished", "failed": "failed"}


def make_runs(apps, schema_editor):
    exports = apps.get_model("reports", "Export").objects
    parts = apps.get_model("reports", "ExportPart").objects
    for export in exports.all().iterator():
        state, is_over = export.state, export.state in ("ready", "failed")
        ended_at = (export.ended_at or export.started_at) if is_over else None
        parts.create(
            run_id=export.pk,
            state=ITEM_STATES[state],
            percent=export.done,
            step=export.step,
            error=export.error,
            done_at=ended_at,
        )
        exports.filter(pk=export.pk).update(state=RUN_STATES[state], ended_at=ended_at)


class Migration(migrations.Migration):

    dependencies = [
        ("reports", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint("export", "export_ready_has_its_file"),
        migrations.RemoveConstraint("export", "export_failed_says_why"),
        migrations.AlterModelOptions("export", {"ordering": ["-started_at", "-pk"]}),
        migrations.RenameField("export", "asked_at", "started_at"),
        migrations.RenameField("export", "asked_by", "started_by"),
        migrations.AlterField(
            "export",
            "state",
            models.CharField(
                choices=[
                    ("running", "running"),
                    ("finished", "finished"),
                    ("cancelled", "cancelled"),
                    ("failed", "failed"),
                ],
                default="running",
                max_length=10,
            ),
        ),
        migrations.AlterField("export", "ended_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("export", "provenance", models.JSONField(default=dict)),
        migrations.AddField("export", "queue", models.CharField(default="cpu", max_length=20)),
        migrations.AddField("export", "enqueued_at", models.DateTimeField(null=True)),
        migrations.AddField("export", "enqueued_times", models.PositiveIntegerField(default=0)),
        migrations.AddField("export", "rests", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("export", "rest_until", models.DateTimeField(null=True)),
        migrations.CreateModel(
            name="ExportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "queued"), ("claimed", "at work"), ("done", "done"), ("failed", "failed")],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("token", models.UUIDField(null=True)),
                (
                    "worker",
                    models.CharField(blank=True, help_text="host:process that claimed it last", max_length=120),
                ),
                ("lease_until", models.DateTimeField(null=True)),
                (
                    "not_before",
                    models.DateTimeField(help_text="A failed attempt waits before the next.", null=True),
                ),
                ("error", models.TextField(blank=True)),
                ("seconds", models.FloatField(default=0)),
                ("done_at", models.DateTimeField(null=True)),
                ("percent", models.PositiveSmallIntegerField(default=0)),
                (
                    "step",
                    models.CharField(blank=True, help_text="What is being made at the moment.", max_length=80),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="reports.export"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["run", "state"], name="export_part_by_state")],
                "constraints": [
                    models.UniqueConstraint(fields=("run",), name="export_part_once_an_export"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "claimed"), _negated=True),
                            models.Q(("lease_until__isnull", False), ("token__isnull", False)),
                            _connector="OR",
                        ),
                        name="export_part_claimed_has_a_lease",
                    ),
                ],
            },
        ),
        migrations.RunPython(make_runs, migrations.RunPython.noop),
    ]
