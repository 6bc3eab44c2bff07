import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0020_shows_gold_and_licence'),
    ]

    operations = [
        migrations.CreateModel(
            name='CrowdLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=80, verbose_name='title')),
                ('token', models.CharField(max_length=64, unique=True)),
                ('rows_each', models.PositiveSmallIntegerField()),
                ('people_per_row', models.PositiveSmallIntegerField(help_text='In all, whoever comes otherwise included.')),
                ('most_people', models.PositiveIntegerField()),
                ('hours', models.PositiveSmallIntegerField(help_text='After so long without the end, a place is given to others.')),
                ('asks_for', models.CharField(blank=True, help_text='The parameter of the address by which the platform says who comes; empty: nobody does.', max_length=40, validators=[django.core.validators.RegexValidator('^[A-Za-z][A-Za-z0-9_-]*$')])),
                ('completion_code', models.CharField(blank=True, max_length=80)),
                ('completion_url', models.URLField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(blank=True, help_text='Since then nobody new comes by it.', null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('sheets', models.ManyToManyField(related_name='crowd_links', to='annotation.sheet')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='crowd_links', to='annotation.study')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.CharField(max_length=120)),
                ('rows', models.JSONField(help_text='The rows that they were given, by their numbers.')),
                ('came_at', models.DateTimeField(auto_now_add=True)),
                ('freed_at', models.DateTimeField(blank=True, help_text='When their place was given to others.', null=True)),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='annotation.crowdlink')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participations', to='annotation.rater')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='participations', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('link', 'number'), name='participant_once_a_link'), models.CheckConstraint(condition=models.Q(('number', ''), _negated=True), name='participant_has_number')],
            },
        ),
        migrations.CreateModel(
            name='SchemeRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('spec', models.JSONField()),
                ('source', models.TextField()),
                ('until', models.DateTimeField(auto_now_add=True)),
                ('reason', models.CharField(help_text='Why the wording was changed, as raters are told.', max_length=500)),
                ('changed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('read_by', models.ManyToManyField(related_name='+', to=settings.AUTH_USER_MODEL)),
                ('scheme', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='annotation.scheme')),
            ],
            options={
                'ordering': ['scheme', '-version'],
                'constraints': [models.UniqueConstraint(fields=('scheme', 'version'), name='scheme_revision_once')],
            },
        ),
    ]
