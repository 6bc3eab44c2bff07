"""What 0001 to 0004 make of a new database."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation.create_models import CreateModels


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('recipes', '0001_initial'),
        ('recipes', '0002_retrieval'),
        ('recipes', '0003_mending'),
        ('recipes', '0004_written_lines'),
    ]

    # As those that it replaces: who stopped half way may have them all, and not all of annotation's.
    dependencies = [
        ('annotation', '0005_lineage'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Document',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('source', models.CharField(max_length=500)),
                    ('host', models.CharField(blank=True, max_length=255)),
                    ('parser', models.CharField(max_length=100)),
                    ('html_gz', models.BinaryField()),
                    ('sha256', models.CharField(max_length=64)),
                    ('imported_at', models.DateTimeField(auto_now_add=True)),
                    ('row', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='document', to='annotation.row')),
                    ('doubts', models.JSONField(default=list, help_text='Why the reading may be wrong: keys of pages.doubts.')),
                    ('reader', models.CharField(default='1', max_length=10)),
                ],
                options={
                    'ordering': ['row'],
                },
            ),
            migrations.CreateModel(
                name='Recipe',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('ingredients', models.JSONField()),
                    ('steps', models.JSONField()),
                    ('tasks', models.JSONField()),
                    ('sheet', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='recipe', to='annotation.sheet')),
                    ('written', models.JSONField(blank=True, default=list, help_text="Each ingredient's line as it was written, with its amount; empty where that is the name.")),
                ],
                options={
                    'ordering': ['sheet'],
                },
            ),
            migrations.CreateModel(
                name='Site',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('origin', models.CharField(help_text='Scheme, host and port.', max_length=300, unique=True)),
                    ('robots', models.TextField(blank=True)),
                    ('closed', models.TextField(blank=True, help_text='Why nothing of it may be fetched at the moment.')),
                    ('tdmrep', models.JSONField(default=list, help_text='The rules of its /.well-known/tdmrep.json.')),
                    ('asked_at', models.DateTimeField(help_text='When its robots.txt was read last.', null=True)),
                    ('free_at', models.DateTimeField(help_text='When it may be visited again.', null=True)),
                ],
                options={
                    'ordering': ['origin'],
                },
            ),
            migrations.CreateModel(
                name='Hit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rank', models.PositiveIntegerField()),
                    ('url', models.TextField()),
                    ('canonical', models.TextField(help_text='What addresses of one page have in common.')),
                    ('title', models.CharField(blank=True, max_length=500)),
                    ('state', models.CharField(choices=[('waiting', 'not needed yet'), ('document', 'document'), ('no_recipe', 'no recipe'), ('duplicate', 'there already'), ('dead', 'dead'), ('refused', 'refused')], default='waiting', max_length=10)),
                    ('reason', models.TextField(blank=True)),
                    ('resemblance', models.FloatField(default=0, help_text='To `near`: the share of runs of words in common.')),
                    ('opt_outs', models.JSONField(default=list, help_text='What says that the page is not to be mined or trained on.')),
                    ('looked_at', models.DateTimeField(help_text='When it was visited last.', null=True)),
                    ('decided_at', models.DateTimeField(null=True)),
                    ('decided_by', models.ForeignKey(help_text='Who agreed or overruled.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('document', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='hit', to='recipes.document')),
                    ('near', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='near_hits', to='recipes.document')),
                    ('same_as', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='duplicates', to='recipes.hit')),
                    ('search', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='recipes.search')),
                ],
                options={
                    'ordering': ['search__sheet__position', 'search', 'rank'],
                    'constraints': [models.UniqueConstraint(fields=('search', 'rank'), name='hit_rank_once_a_search')],
                },
            ),
            migrations.CreateModel(
                name='Fetched',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.TextField(help_text='Where it was in the end, after all redirects.')),
                    ('canonical', models.TextField()),
                    ('status', models.PositiveSmallIntegerField()),
                    ('headers', models.JSONField()),
                    ('hops', models.JSONField(default=list, help_text='The redirects that led there: address and status.')),
                    ('record', models.BinaryField(help_text='A WARC response record, gzipped.')),
                    ('sha256', models.CharField(help_text='Of the unpacked page.', max_length=64)),
                    ('n_bytes', models.PositiveIntegerField(help_text='Of the unpacked page.')),
                    ('n_ingredients', models.PositiveIntegerField(default=0, help_text='Lines that the reader found.')),
                    ('n_steps', models.PositiveIntegerField(default=0)),
                    ('fetched_at', models.DateTimeField()),
                    ('hit', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='fetched', to='recipes.hit')),
                ],
                options={
                    'verbose_name_plural': 'fetched pages',
                    'ordering': ['hit'],
                },
            ),
            migrations.CreateModel(
                name='Search',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('engine', models.CharField(max_length=40)),
                    ('query', models.CharField(max_length=400)),
                    ('depth', models.PositiveIntegerField(default=0, help_text='How many results were asked for.')),
                    ('recorded', models.BooleanField(default=False, help_text='Its results were recorded elsewhere.')),
                    ('results', models.JSONField(default=list, help_text='As they came: rank, address, title.')),
                    ('asked_at', models.DateTimeField(null=True)),
                    ('error', models.TextField(blank=True)),
                    ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('column', models.ForeignKey(blank=True, help_text='Of a search for one item.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='searches', to='annotation.column')),
                    ('sheet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='searches', to='annotation.sheet')),
                ],
                options={
                    'ordering': ['sheet__position', 'pk'],
                    'indexes': [models.Index(fields=['sheet', 'engine', 'query'], name='search_by_query')],
                },
            ),
            migrations.CreateModel(
                name='Retrieval',
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
                    ('documents', models.PositiveIntegerField(help_text='That are wanted of each engine for each query.')),
                    ('raters', models.JSONField(default=list, help_text='Who is given the new documents: the code of a rater, and sections; none means all.')),
                    ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='retrievals', to='annotation.study')),
                    ('searches', models.ManyToManyField(related_name='retrievals', to='recipes.search')),
                ],
                options={
                    'ordering': ['-started_at'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('study',), name='retrieval_one_at_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), ('ended_at', None)), models.Q(models.Q(('state', 'running'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='retrieval_ended_has_its_time')],
                },
            ),
            migrations.CreateModel(
                name='Visit',
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
                    ('hit', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='visits', to='recipes.hit')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='recipes.retrieval')),
                    ('search', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='visits', to='recipes.search')),
                ],
                options={
                    'ordering': ['run', 'pk'],
                    'indexes': [models.Index(fields=['run', 'state'], name='visit_by_state')],
                    'constraints': [models.UniqueConstraint(fields=('run', 'hit'), name='visit_hit_once_a_run'), models.UniqueConstraint(condition=models.Q(('hit', None)), fields=('run', 'search'), name='visit_search_once_a_run'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'claimed'), _negated=True), models.Q(('lease_until__isnull', False), ('token__isnull', False)), _connector='OR'), name='visit_claimed_has_a_lease')],
                },
            ),
            migrations.CreateModel(
                name='Mending',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('before', models.JSONField(help_text="The document's blocks until then.")),
                    ('after', models.JSONField()),
                    ('changes', models.JSONField(default=list, help_text='Each with what was done, the kind of line and its text.')),
                    ('n_added', models.PositiveIntegerField(default=0)),
                    ('n_dropped', models.PositiveIntegerField(default=0)),
                    ('n_moved', models.PositiveIntegerField(default=0)),
                    ('n_changed', models.PositiveIntegerField(default=0)),
                    ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('row', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mendings', to='annotation.row')),
                ],
                options={
                    'ordering': ['row', 'pk'],
                },
            ),
        ]),
    ]
