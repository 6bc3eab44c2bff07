"""A question about a cell can forget who asked it, as do those of accounts that are erased already, and invitations."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def forget(apps, schema_editor):
    erased = apps.get_model("annotation", "User").objects.filter(username__startswith="erased-", is_active=False)
    accounts = [pk for pk, name in erased.values_list("pk", "username") if name == f"erased-{pk}"]
    apps.get_model("annotation", "Note").objects.filter(author__in=accounts).update(author=None)
    apps.get_model("annotation", "Invite").objects.filter(used_by__in=accounts).update(used_by=None)
    apps.get_model("annotation", "Look").objects.filter(user__in=accounts).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0015_fewer_indexes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="note",
            name="author",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(forget, migrations.RunPython.noop),
    ]
