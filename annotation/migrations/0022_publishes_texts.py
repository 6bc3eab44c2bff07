from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0021_wordings_and_crowds'),
    ]

    operations = [
        migrations.AddField(
            model_name='study',
            name='publishes_texts',
            field=models.BooleanField(default=False, help_text='Only where you have the right to pass the texts on; say in the scheme what holds for them.', verbose_name='downloads have the texts'),
        ),
    ]
