"""What 0001 to 0004 make of a new database. What they mend in an old one is left out."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation.create_models import CreateModels


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('reports', '0001_initial'),
        ('reports', '0002_work_machine'),
        ('reports', '0003_work_machine_constraints'),
        ('reports', '0004_hiring'),
    ]

    # As those that it replaces: who stopped half way may have them all, and not all of annotation's.
    dependencies = [
        ('annotation', '0006_submit_complete'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Report',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('title', models.CharField(max_length=200, verbose_name='title')),
                    ('filters', models.JSONField(default=dict)),
                    ('language', models.CharField(max_length=16)),
                    ('labels', models.BinaryField()),
                    ('results', models.TextField()),
                    ('data_digest', models.CharField(help_text='SHA-256 of the label table.', max_length=64)),
                    ('results_digest', models.CharField(help_text='SHA-256 of all texts and numbers.', max_length=64)),
                    ('code_version', models.CharField(max_length=60)),
                    ('libraries', models.JSONField(default=dict)),
                    ('seeds', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='annotation.study')),
                ],
                options={
                    'ordering': ['-created_at', '-pk'],
                },
            ),
            migrations.CreateModel(
                name='Export',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('form', models.CharField(choices=[('zip', 'everything in one ZIP'), ('jsonl', 'labels for Hugging Face (JSONL)'), ('label-studio', 'labels for Label Studio (JSON)')], max_length=12)),
                    ('filters', models.JSONField(default=dict)),
                    ('language', models.CharField(max_length=16)),
                    ('state', models.CharField(choices=[('running', 'running'), ('finished', 'finished'), ('cancelled', 'cancelled'), ('failed', 'failed')], default='running', max_length=10)),
                    ('file', models.CharField(blank=True, max_length=200)),
                    ('size', models.PositiveBigIntegerField(default=0)),
                    ('error', models.TextField(blank=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exports', to='annotation.study')),
                    ('report', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='exports', to='reports.report')),
                    ('started_at', models.DateTimeField(auto_now_add=True)),
                    ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('provenance', models.JSONField(default=dict)),
                    ('queue', models.CharField(default='cpu', max_length=20)),
                    ('enqueued_at', models.DateTimeField(null=True)),
                    ('enqueued_times', models.PositiveIntegerField(default=0)),
                    ('rests', models.PositiveSmallIntegerField(default=0)),
                    ('rest_until', models.DateTimeField(null=True)),
                ],
                options={
                    'ordering': ['-started_at', '-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('state', 'finished'), models.Q(('file', ''), _negated=True)), models.Q(models.Q(('state', 'finished'), _negated=True), ('file', '')), _connector='OR'), name='export_ready_has_its_file'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='export_failed_says_why'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), ('ended_at', None)), models.Q(models.Q(('state', 'running'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='export_ended_has_its_time')],
                },
            ),
            migrations.CreateModel(
                name='ExportPart',
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
                    ('percent', models.PositiveSmallIntegerField(default=0)),
                    ('step', models.CharField(blank=True, help_text='What is being made at the moment.', max_length=80)),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='reports.export')),
                ],
                options={
                    'indexes': [models.Index(fields=['run', 'state'], name='export_part_by_state')],
                    'constraints': [models.UniqueConstraint(fields=('run',), name='export_part_once_an_export'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'claimed'), _negated=True), models.Q(('lease_until__isnull', False), ('token__isnull', False)), _connector='OR'), name='export_part_claimed_has_a_lease')],
                },
            ),
            migrations.CreateModel(
                name='Certificate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('labels', models.BinaryField()),
                    ('request', models.JSONField()),
                    ('document', models.TextField()),
                    ('digest', models.CharField(help_text='SHA-256 of the document.', max_length=64, unique=True)),
                    ('data_digest', models.CharField(help_text='SHA-256 of the label table.', max_length=64)),
                    ('threshold', models.FloatField(help_text='A cell is accepted from this score on.')),
                    ('epsilon', models.FloatField(help_text='Share of accepted cells that may be wrong.')),
                    ('confidence', models.FloatField()),
                    ('until', models.DateField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                    ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='certificates', to='annotation.rater')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='certificates', to='annotation.study')),
                    ('look', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='certificate', to='reports.testlook')),
                ],
                options={
                    'ordering': ['-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('confidence__gt', 0), ('confidence__lt', 1), ('epsilon__gt', 0), ('epsilon__lt', 1)), name='certificate_claims_something')],
                },
            ),
            migrations.CreateModel(
                name='Split',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('unit', models.CharField(choices=[('row', 'documents'), ('sheet', 'whole sheets')], default='row', max_length=5)),
                    ('share', models.PositiveSmallIntegerField(help_text='Per cent of the documents that are for the test.')),
                    ('seed', models.PositiveIntegerField()),
                    ('drawn_at', models.DateTimeField(auto_now_add=True)),
                    ('drawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='split', to='annotation.study')),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('share__gte', 1), ('share__lte', 99)), name='split_has_two_parts'), models.CheckConstraint(condition=models.Q(('unit__in', ['row', 'sheet'])), name='split_unit_known')],
                },
            ),
            migrations.CreateModel(
                name='SplitRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('test', models.BooleanField()),
                    ('row', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='part', to='annotation.row')),
                    ('split', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='reports.split')),
                ],
            ),
            migrations.CreateModel(
                name='Takeover',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('share', models.PositiveSmallIntegerField()),
                    ('seed', models.PositiveIntegerField()),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('certificate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='takeovers', to='reports.certificate')),
                    ('plan', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.plan')),
                ],
                options={
                    'ordering': ['pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('share__lte', 100)), name='takeover_share_of_100')],
                },
            ),
            migrations.CreateModel(
                name='Accepted',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('code', models.TextField(help_text='The answer as it was accepted.')),
                    ('score', models.FloatField()),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='accepted', to='annotation.assignment')),
                    ('column', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.column')),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                    ('takeover', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='reports.takeover')),
                ],
                options={
                    'verbose_name_plural': 'accepted cells',
                    'constraints': [models.UniqueConstraint(fields=('takeover', 'assignment', 'column', 'question'), name='accepted_once_a_takeover'), models.CheckConstraint(condition=models.Q(('code', ''), _negated=True), name='accepted_has_an_answer')],
                },
            ),
            migrations.CreateModel(
                name='TakeoverRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('drawn', models.BooleanField(default=False)),
                    ('rest', models.BooleanField(default=False)),
                    ('row', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.row')),
                    ('takeover', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='reports.takeover')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('takeover', 'row'), name='takeover_row_once')],
                },
            ),
            migrations.CreateModel(
                name='TestLook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('what', models.CharField(choices=[('test', 'a judge was tested'), ('report', 'the report was read'), ('download', 'labels or the report were downloaded')], max_length=8)),
                    ('judge', models.CharField(blank=True, max_length=80)),
                    ('question', models.CharField(blank=True, help_text='section.question', max_length=125)),
                    ('outcome', models.JSONField(blank=True, default=dict)),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='test_looks', to='annotation.study')),
                ],
                options={
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['study', 'what', 'by', 'at'], name='test_look_by_whom')],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('what', 'test'), models.Q(('judge', ''), _negated=True), models.Q(('question', ''), _negated=True)), models.Q(('judge', ''), ('question', ''), ('what__in', ['report', 'download'])), _connector='OR'), name='test_look_of_a_judge_says_which')],
                },
            ),
            migrations.CreateModel(
                name='Revocation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('why', models.CharField(choices=[('changed', 'the judge or what it reads has changed'), ('supervision', 'supervision found too many wrong cells'), ('hand', 'by hand')], max_length=12)),
                    ('reason', models.TextField()),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('certificate', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='revocation', to='reports.certificate')),
                ],
                options={
                    'ordering': ['-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='revocation_has_a_reason'), models.CheckConstraint(condition=models.Q(('why__in', ['changed', 'supervision', 'hand'])), name='revocation_why_known')],
                },
            ),
        ]),
    ]
