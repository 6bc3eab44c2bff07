from django.db import migrations
from django.db.models.functions import Coalesce


def give_places(apps, schema_editor):
    """Runs that were at work when places came had none, and said nothing of their turn, until they were sent again."""
    for name in ("Deletion", "Import"):
        runs = apps.get_model("annotation", name).objects.filter(state="running", queued_at=None)
        at_work = runs.filter(items__state__in=("queued", "claimed"))
        at_work.update(queued_at=Coalesce("enqueued_at", "started_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0026_contact"),
    ]

    operations = [
        migrations.RunPython(give_places, migrations.RunPython.noop),
    ]
