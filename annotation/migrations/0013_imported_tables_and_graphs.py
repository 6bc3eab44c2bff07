from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0012_imported_pages'),
    ]

    operations = [
        migrations.AlterField(
            model_name='import',
            name='what',
            field=models.CharField(choices=[('rows', 'rows and columns'), ('labels', 'labels'), ('pages', 'pages'), ('tables', 'tables'), ('graphs', 'graphs')], max_length=6),
        ),
    ]
