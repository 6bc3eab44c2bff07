"""Nothing. A migration of the judges' app replaces 0001 to 0006, and the next one needs one of this app to follow."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("llm", "0006_rescued_margins")]

    operations = []
