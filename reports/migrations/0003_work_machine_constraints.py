from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ("reports", "0002_work_machine"),
    ]

    operations = [
        migrations.RemoveField("export", "done"),
        migrations.RemoveField("export", "step"),
        migrations.AddConstraint(
            "export",
            models.CheckConstraint(
                condition=(Q(state="finished") & ~Q(file="")) | (~Q(state="finished") & Q(file="")),
                name="export_ready_has_its_file",
            ),
        ),
        migrations.AddConstraint(
            "export",
            models.CheckConstraint(
                condition=(Q(state="failed") & ~Q(error="")) | (~Q(state="failed") & Q(error="")),
                name="export_failed_says_why",
            ),
        ),
        migrations.AddConstraint(
            "export",
            models.CheckConstraint(
                condition=(Q(state="running") & Q(ended_at=None)) | (~Q(state="running") & Q(ended_at__isnull=False)),
                name="export_ended_has_its_time",
            ),
        ),
    ]
