
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0003_answers_of_any_kind'),
    ]

    operations = [
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('running', 'running'), ('finished', 'finished'), ('cancelled', 'cancelled'), ('failed', 'failed')], default='running', max_length=10)),
                ('error', models.TextField(blank=True)),
                ('provenance', models.JSONField(default=dict)),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('queue', models.CharField(default='cpu', max_length=20)),
                ('enqueued_at', models.DateTimeField(null=True)),
                ('enqueued_times', models.PositiveIntegerField(default=0)),
                ('rests', models.PositiveSmallIntegerField(default=0)),
                ('rest_until', models.DateTimeField(null=True)),
                ('what', models.CharField(choices=[('rows', 'rows and columns'), ('labels', 'labels')], max_length=6)),
                ('files', models.JSONField(help_text="{part of the form: [the file's own name, its name in PALATE_UPLOADS]}")),
                ('how', models.JSONField(default=dict, help_text='How a file of labels is to be read.')),
                ('language', models.CharField(max_length=16)),
                ('outcome', models.JSONField(default=dict, help_text='What it did, in sentences; or the problems that kept it from doing anything.')),
                ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='annotation.study')),
            ],
            options={
                'ordering': ['-started_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='ImportPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'queued'), ('claimed', 'at work'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=8)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('token', models.UUIDField(null=True)),
                ('worker', models.CharField(blank=True, help_text='host:process that claimed it last', max_length=120)),
                ('lease_until', models.DateTimeField(null=True)),
                ('not_before', models.DateTimeField(help_text='A failed attempt waits before the next.', null=True)),
                ('error', models.TextField(blank=True)),
                ('seconds', models.FloatField(default=0)),
                ('done_at', models.DateTimeField(null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotation.import')),
            ],
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), ('ended_at', None)), models.Q(models.Q(('state', 'running'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='import_ended_has_its_time'),
        ),
        migrations.AddIndex(
            model_name='importpart',
            index=models.Index(fields=['run', 'state'], name='import_part_by_state'),
        ),
        migrations.AddConstraint(
            model_name='importpart',
            constraint=models.UniqueConstraint(fields=('run',), name='import_part_once_an_import'),
        ),
        migrations.AddConstraint(
            model_name='importpart',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'claimed'), _negated=True), models.Q(('lease_until__isnull', False), ('token__isnull', False)), _connector='OR'), name='import_part_claimed_has_a_lease'),
        ),
    ]
