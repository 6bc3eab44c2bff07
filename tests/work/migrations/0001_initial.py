
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Written',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('key', models.UUIDField()),
                ('note', models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('running', 'running'), ('finished', 'finished'), ('cancelled', 'cancelled'), ('failed', 'failed')], default='running', max_length=10)),
                ('error', models.TextField(blank=True)),
                ('provenance', models.JSONField(default=dict)),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('queue', models.CharField(default='cpu', max_length=20)),
                ('queued_at', models.DateTimeField(null=True)),
                ('enqueued_at', models.DateTimeField(null=True)),
                ('enqueued_times', models.PositiveIntegerField(default=0)),
                ('rests', models.PositiveSmallIntegerField(default=0)),
                ('rest_until', models.DateTimeField(null=True)),
                ('wanted', models.CharField(default='cpu', max_length=20)),
                ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Piece',
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
                ('number', models.PositiveIntegerField()),
                ('void', models.BooleanField(default=False)),
                ('weight', models.PositiveIntegerField(default=0)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='toy.batch')),
            ],
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), ('ended_at', None)), models.Q(models.Q(('state', 'running'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='batch_ended_has_its_time'),
        ),
        migrations.AddIndex(
            model_name='piece',
            index=models.Index(fields=['run', 'state'], name='piece_by_state'),
        ),
        migrations.AddConstraint(
            model_name='piece',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'claimed'), _negated=True), models.Q(('lease_until__isnull', False), ('token__isnull', False)), _connector='OR'), name='piece_claimed_has_a_lease'),
        ),
    ]
