"""What 0001 to 0020 make of a new database. What they mend in an old one is left out."""

import uuid

import annotation.models.fields
import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotation.create_models import CreateModels


def _sample(size):
    """Of how many raters PostgreSQL's planner knows how many assignments there are: the reason is in 0014."""

    def ask(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"ALTER TABLE annotation_assignment ALTER COLUMN rater_id SET STATISTICS {size}")

    return ask


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('annotation', '0001_initial'),
        ('annotation', '0002_restored_events'),
        ('annotation', '0003_answers_of_any_kind'),
        ('annotation', '0004_imports_in_the_background'),
        ('annotation', '0005_lineage'),
        ('annotation', '0006_submit_complete'),
        ('annotation', '0007_archived_sheets'),
        ('annotation', '0008_trust'),
        ('annotation', '0009_arrivals'),
        ('annotation', '0010_background'),
        ('annotation', '0011_experiments'),
        ('annotation', '0012_imported_pages'),
        ('annotation', '0013_imported_tables_and_graphs'),
        ('annotation', '0014_statistics_of_raters'),
        ('annotation', '0015_fewer_indexes'),
        ('annotation', '0016_forgotten_authors'),
        ('annotation', '0017_archived_studies'),
        ('annotation', '0018_deletions'),
        ('annotation', '0019_setup_list'),
        ('annotation', '0020_shows_gold_and_licence'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Column',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('name', models.CharField(help_text="The facets in the section's order, the empty ones left out.", max_length=400)),
                    ('facets', models.JSONField(default=dict)),
                    ('section', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='columns', to='annotation.section')),
                    ('sheet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='columns', to='annotation.sheet')),
                ],
                options={
                    'ordering': ['sheet', 'section__position', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('sheet', 'section', 'position'), name='column_position_once_a_section')],
                },
            ),
            migrations.CreateModel(
                name='Question',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.SlugField(max_length=60)),
                    ('title', models.CharField(max_length=120)),
                    ('kind', models.CharField(max_length=20)),
                    ('position', models.PositiveSmallIntegerField()),
                    ('section', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='annotation.section')),
                ],
                options={
                    'ordering': ['section__position', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('section', 'key'), name='question_key_once_a_section')],
                },
            ),
            migrations.CreateModel(
                name='User',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                    ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                    ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                    ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                    ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                    ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                    ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                    ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                    ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                    ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                ],
                options={
                    'verbose_name': 'user',
                    'verbose_name_plural': 'users',
                    'abstract': False,
                },
                managers=[
                    ('objects', django.contrib.auth.models.UserManager()),
                ],
            ),
            migrations.CreateModel(
                name='Plan',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('request', models.JSONField()),
                    ('applied_at', models.DateTimeField(auto_now_add=True)),
                    ('applied_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plans', to='annotation.study')),
                ],
                options={
                    'ordering': ['-applied_at'],
                },
            ),
            migrations.CreateModel(
                name='Assignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('repeat', models.PositiveSmallIntegerField(default=1)),
                    ('sections', models.JSONField(blank=True, default=list, help_text='Keys of the sections asked; empty means all.')),
                    ('state', models.CharField(choices=[('open', 'open'), ('started', 'started'), ('submitted', 'submitted'), ('failed', 'failed'), ('withdrawn', 'withdrawn')], default='open', max_length=10)),
                    ('started_at', models.DateTimeField(blank=True, null=True)),
                    ('submitted_at', models.DateTimeField(blank=True, null=True)),
                    ('failure', models.TextField(blank=True, help_text='Why a judge could not label this row.')),
                    ('active_seconds', models.PositiveIntegerField(default=0, help_text='Time at work on it, pauses left out.')),
                    ('order', models.PositiveIntegerField(blank=True, help_text="Place in the rater's own order of a sheet; empty means the sheet's order.", null=True)),
                    ('plan', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='assignments', to='annotation.plan')),
                    ('handed_to', models.ForeignKey(blank=True, db_index=False, help_text='Who has it instead.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.rater')),
                    ('rater', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.rater')),
                    ('row', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.row')),
                ],
                options={
                    'ordering': ['row__sheet', 'row__position', 'rater'],
                    'indexes': [models.Index(condition=models.Q(('plan__isnull', False)), fields=['plan'], name='assignment_planned'), models.Index(condition=models.Q(('handed_to__isnull', False)), fields=['handed_to'], name='assignment_handed_to')],
                    'constraints': [models.UniqueConstraint(fields=('rater', 'row', 'repeat'), name='assignment_once'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'submitted'), ('submitted_at__isnull', False)), models.Q(models.Q(('state', 'submitted'), _negated=True), ('submitted_at', None)), _connector='OR'), name='assignment_submitted_has_its_time'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('failure', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('failure', '')), _connector='OR'), name='assignment_failed_says_why'), models.CheckConstraint(condition=models.Q(('handed_to', None), ('state', 'withdrawn'), _connector='OR'), name='assignment_handed_on_is_withdrawn')],
                },
            ),
            migrations.CreateModel(
                name='Option',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.SlugField(max_length=60)),
                    ('label', models.CharField(max_length=80)),
                    ('hotkey', models.CharField(max_length=1)),
                    ('value', models.IntegerField(help_text='The number on a scale; empty for the options of a choice.', null=True)),
                    ('position', models.PositiveSmallIntegerField()),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='options', to='annotation.question')),
                ],
                options={
                    'ordering': ['question', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('question', 'key'), name='option_key_once_a_question'), models.UniqueConstraint(fields=('question', 'hotkey'), name='option_hotkey_once_a_question')],
                },
            ),
            migrations.CreateModel(
                name='Note',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.TextField()),
                    ('at', models.DateTimeField(auto_now=True)),
                    ('answer', models.TextField(blank=True)),
                    ('answered_at', models.DateTimeField(blank=True, null=True)),
                    ('read_at', models.DateTimeField(blank=True, null=True)),
                    ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='annotation.assignment')),
                    ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('column', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.column')),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                ],
                options={
                    'ordering': ['at'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('answered_at', None)), fields=('assignment', 'column', 'question'), name='note_open_once_a_cell'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='note_says_something'), models.CheckConstraint(condition=models.Q(models.Q(('answer', ''), ('answered_at', None), ('answered_by', None), ('read_at', None)), models.Q(models.Q(('answer', ''), _negated=True), ('answered_at__isnull', False), ('answered_by__isnull', False)), _connector='OR'), name='note_answer_has_its_time_and_author')],
                },
            ),
            migrations.CreateModel(
                name='LabelEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('skip_before', models.CharField(blank=True, help_text='Reason of the skip; empty means none.', max_length=500)),
                    ('skip_after', models.CharField(blank=True, max_length=500)),
                    ('note', models.TextField(blank=True)),
                    ('preset', models.BooleanField(default=False)),
                    ('restored_to', models.DateTimeField(help_text='The moment that was restored, where the change was a restore.', null=True)),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('key', models.UUIDField()),
                    ('assignment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='annotation.assignment')),
                    ('by', models.ForeignKey(db_index=False, help_text='Who changed it, where that was somebody other than the rater.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('column', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.column')),
                    ('after', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.option')),
                    ('before', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.option')),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                    ('confirmed_at', models.DateTimeField(null=True)),
                    ('drafted_from', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.rater')),
                    ('value_after', annotation.models.fields.ValueField(null=True)),
                    ('value_before', annotation.models.fields.ValueField(null=True)),
                ],
                options={
                    'ordering': ['pk'],
                    'indexes': [models.Index(condition=models.Q(('restored_to__isnull', False)), fields=['assignment'], name='label_event_restored'), models.Index(condition=models.Q(('drafted_from__isnull', False)), fields=['drafted_from'], name='label_event_drafted'), models.Index(condition=models.Q(('before__isnull', False)), fields=['before'], name='label_event_before'), models.Index(condition=models.Q(('by__isnull', False)), fields=['by'], name='label_event_by')],
                    'constraints': [models.UniqueConstraint(fields=('assignment', 'column', 'question', 'key'), name='label_event_key_once'), models.CheckConstraint(condition=models.Q(models.Q(('before', None), ('value_before', None), _connector='OR'), models.Q(('after', None), ('value_after', None), _connector='OR')), name='label_event_option_or_value')],
                },
            ),
            migrations.CreateModel(
                name='Label',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('scores', models.JSONField(blank=True, help_text="A judge's log-probabilities of all options.", null=True)),
                    ('note', models.TextField(blank=True)),
                    ('preset', models.BooleanField(default=False, help_text='Follows from the column; nobody chose it.')),
                    ('exposed', models.BooleanField(default=False, help_text="Its rater had seen other raters' labels of this sheet before.")),
                    ('revision', models.PositiveIntegerField(default=1)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('assignment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='annotation.assignment')),
                    ('column', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='annotation.column')),
                    ('option', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='labels', to='annotation.option')),
                    ('question', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='labels', to='annotation.question')),
                    ('confirmed_at', models.DateTimeField(blank=True, help_text='When its rater changed or confirmed the drafted answer.', null=True)),
                    ('drafted_from', models.ForeignKey(blank=True, db_index=False, help_text='Whose answer it began as.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.rater')),
                    ('value', annotation.models.fields.ValueField(blank=True, help_text='The answer to a question without options.', null=True)),
                ],
                options={
                    'ordering': ['assignment', 'column', 'question'],
                    'indexes': [models.Index(fields=['question', 'option'], name='label_by_option'), models.Index(condition=models.Q(('drafted_from__isnull', False)), fields=['drafted_from'], name='label_drafted')],
                    'constraints': [models.UniqueConstraint(fields=('assignment', 'column', 'question'), name='label_once_a_cell'), models.CheckConstraint(condition=models.Q(models.Q(('option__isnull', False), ('value', None)), models.Q(('option', None), ('value__isnull', False)), _connector='OR'), name='label_option_xor_value')],
                },
            ),
            migrations.CreateModel(
                name='Decision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reason', models.TextField(blank=True)),
                    ('seen', models.JSONField(default=dict, help_text='Rater → code of all labels of the cell at that time.')),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='annotation.assignment')),
                    ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to=settings.AUTH_USER_MODEL)),
                    ('column', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.column')),
                    ('option', models.ForeignKey(help_text='Empty where a decision was withdrawn.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.option')),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                    ('value', annotation.models.fields.ValueField(help_text='What was decided of a question without options.', null=True)),
                    ('batch', models.UUIDField(editable=False, help_text='The same for all that were accepted at once.', null=True)),
                ],
                options={
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['assignment', 'column', 'question'], name='decision_by_cell')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('option', None), ('value', None), _connector='OR'), name='decision_option_or_value')],
                },
            ),
            migrations.CreateModel(
                name='Rater',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('person', 'person'), ('judge', 'judge'), ('gold', 'gold')], max_length=8)),
                    ('code', models.CharField(max_length=80)),
                    ('simulated', models.BooleanField(default=False, help_text='A program made these labels up.')),
                    ('active', models.BooleanField(default=True, help_text='Gets new assignments.')),
                    ('paused_at', models.DateTimeField(blank=True, help_text='Keeps the work it has and gets none until it goes on.', null=True)),
                    ('paused_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='raters', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='raters', to='annotation.study')),
                ],
                options={
                    'ordering': ['study', 'kind', 'code'],
                    'constraints': [models.UniqueConstraint(fields=('study', 'code'), name='rater_code_once_a_study'), models.UniqueConstraint(fields=('study', 'user'), name='rater_user_once_a_study'), models.CheckConstraint(condition=models.Q(('kind__in', ['person', 'judge', 'gold'])), name='rater_kind_known'), models.CheckConstraint(condition=models.Q(('kind', 'person'), ('user', None), _connector='OR'), name='rater_user_is_a_person')],
                },
            ),
            migrations.CreateModel(
                name='Row',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('name', models.CharField(help_text='Short and unique in the sheet, such as “Google 1”.', max_length=200)),
                    ('title', models.CharField(blank=True, max_length=500)),
                    ('url', models.URLField(blank=True, max_length=2000)),
                    ('language', models.CharField(blank=True, max_length=12)),
                    ('evidence', models.JSONField(default=list)),
                    ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                    ('withdrawn_reason', models.TextField(blank=True, help_text='Why nobody else is asked to label it.')),
                    ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('sheet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='annotation.sheet')),
                    ('facets', models.JSONField(blank=True, default=dict, help_text='What the scheme describes rows by.')),
                ],
                options={
                    'ordering': ['sheet', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('sheet', 'position'), name='row_position_once_a_sheet'), models.UniqueConstraint(fields=('sheet', 'name'), name='row_name_once_a_sheet')],
                },
            ),
            migrations.CreateModel(
                name='Scheme',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('slug', models.SlugField(max_length=60)),
                    ('version', models.PositiveIntegerField()),
                    ('title', models.CharField(max_length=200)),
                    ('spec', models.JSONField()),
                    ('source', models.TextField(help_text='The YAML file as it was read.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['slug', '-version'],
                    'constraints': [models.UniqueConstraint(fields=('slug', 'version'), name='scheme_version_once')],
                },
            ),
            migrations.CreateModel(
                name='Section',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.SlugField(max_length=60)),
                    ('title', models.CharField(max_length=120)),
                    ('position', models.PositiveSmallIntegerField()),
                    ('scheme', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sections', to='annotation.scheme')),
                ],
                options={
                    'ordering': ['scheme', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('scheme', 'key'), name='section_key_once_a_scheme')],
                },
            ),
            migrations.CreateModel(
                name='Sheet',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('title', models.CharField(max_length=200)),
                    ('closed_at', models.DateTimeField(blank=True, help_text='Since then its people change nothing.', null=True)),
                    ('closed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sheets', to='annotation.study')),
                    ('archived_at', models.DateTimeField(blank=True, help_text="Since then it stands on nobody's list and in no new plan.", null=True)),
                    ('shows_gold', models.BooleanField(default=False, help_text='Once it is closed, its people see where their answers differ from the gold, and why.')),
                ],
                options={
                    'ordering': ['study', 'position'],
                    'constraints': [models.UniqueConstraint(fields=('study', 'position'), name='sheet_position_once_a_study'), models.UniqueConstraint(fields=('study', 'title'), name='sheet_title_once_a_study')],
                },
            ),
            migrations.CreateModel(
                name='Look',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='looks', to=settings.AUTH_USER_MODEL)),
                    ('sheet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='annotation.sheet')),
                ],
                options={
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['sheet', 'user', 'at'], name='look_by_user')],
                },
            ),
            migrations.CreateModel(
                name='Sitting',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('page', models.UUIDField(help_text='Made by the browser when it opens the page.')),
                    ('seconds', models.PositiveIntegerField(default=0)),
                    ('beat_at', models.DateTimeField(help_text='When the page was last heard of.')),
                    ('credited_at', models.DateTimeField(help_text='When time was last added for it.', null=True)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sittings', to='annotation.assignment')),
                ],
                options={
                    'ordering': ['assignment', 'beat_at'],
                    'constraints': [models.UniqueConstraint(fields=('assignment', 'page'), name='sitting_once_a_page')],
                },
            ),
            migrations.CreateModel(
                name='Skip',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reason', models.CharField(max_length=500)),
                    ('at', models.DateTimeField(auto_now=True)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='skips', to='annotation.assignment')),
                    ('column', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.column')),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                ],
                options={
                    'ordering': ['assignment', 'column', 'question'],
                    'constraints': [models.UniqueConstraint(fields=('assignment', 'column', 'question'), name='skip_once_a_cell'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='skip_has_a_reason')],
                },
            ),
            migrations.CreateModel(
                name='Study',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('slug', models.SlugField(max_length=60, unique=True)),
                    ('title', models.CharField(max_length=200)),
                    ('guideline', models.TextField(blank=True, help_text='Shown to raters before the guideline of the scheme.')),
                    ('hourly_rate', models.DecimalField(blank=True, decimal_places=2, help_text='Pay per hour of active work.', max_digits=9, null=True)),
                    ('currency', models.CharField(blank=True, max_length=8)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('scheme', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='studies', to='annotation.scheme')),
                    ('derivation', models.JSONField(blank=True, default=dict, help_text='How it was made of that study.')),
                    ('derived_from', models.ForeignKey(blank=True, help_text='The study it was made of.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='derived', to='annotation.study')),
                    ('submit_complete', models.BooleanField(default=False, help_text="The last answer of a person's row submits it; a correction opens it again.")),
                    ('consent', models.TextField(blank=True, help_text='What annotators agree to before their first label. A text that is changed is asked for anew.', verbose_name='consent text')),
                    ('background', models.TextField(blank=True, help_text='Questions about who labels, asked once before the first label: “questions:” as in a scheme file.', verbose_name='background form')),
                    ('archived_at', models.DateTimeField(blank=True, help_text="Since then it stands on nobody's list, and nothing is changed in it.", null=True)),
                    ('archived_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('deleted_at', models.DateTimeField(blank=True, help_text='Since then a worker is deleting it, and nobody sees it.', null=True)),
                    ('shows_setup', models.BooleanField(default=True, help_text='Its first page lists the steps of setting it up, until they are done.')),
                    ('licence', models.CharField(blank=True, help_text='An SPDX identifier such as CC-BY-4.0; the dataset card of downloads has it.', max_length=40, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9][A-Za-z0-9.+-]*$', 'Not an identifier such as CC-BY-4.0.')], verbose_name='licence of the labels')),
                ],
                options={
                    'verbose_name_plural': 'studies',
                    'ordering': ['title'],
                },
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('annotator', 'annotator'), ('manager', 'manager'), ('researcher', 'researcher')], max_length=12)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='annotation.study')),
                ],
                options={
                    'ordering': ['study', 'user', 'role'],
                    'constraints': [models.UniqueConstraint(fields=('study', 'user', 'role'), name='membership_role_once'), models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'manager', 'researcher'])), name='membership_role_known')],
                },
            ),
            migrations.CreateModel(
                name='Invite',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('annotator', 'annotator'), ('manager', 'manager'), ('researcher', 'researcher')], max_length=12)),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('email', models.EmailField(blank=True, max_length=254)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField()),
                    ('used_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('revoked_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('used_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invites', to='annotation.study')),
                    ('bound', models.BooleanField(default=False, help_text='Only who shows that the address is theirs may use it.')),
                ],
                options={
                    'ordering': ['-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'manager', 'researcher'])), name='invite_role_known'), models.CheckConstraint(condition=models.Q(('used_at', None), ('revoked_at', None), _connector='OR'), name='invite_used_or_revoked'), models.CheckConstraint(condition=models.Q(('bound', False), models.Q(('email', ''), _negated=True), _connector='OR'), name='invite_bound_has_address')],
                },
            ),
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
                    ('what', models.CharField(choices=[('rows', 'rows and columns'), ('labels', 'labels'), ('pages', 'pages'), ('tables', 'tables'), ('graphs', 'graphs')], max_length=6)),
                    ('files', models.JSONField(help_text="{part of the form: [the file's own name, its name in PALATE_UPLOADS]}")),
                    ('how', models.JSONField(default=dict, help_text='How the files are to be read.')),
                    ('language', models.CharField(max_length=16)),
                    ('outcome', models.JSONField(default=dict, help_text='What it did, in sentences; or what kept it from doing it; how far pages are.')),
                    ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='annotation.study')),
                ],
                options={
                    'ordering': ['-started_at', '-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), ('ended_at', None)), models.Q(models.Q(('state', 'running'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='import_ended_has_its_time')],
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
                options={
                    'indexes': [models.Index(fields=['run', 'state'], name='import_part_by_state')],
                    'constraints': [models.UniqueConstraint(fields=('run',), name='import_part_once_an_import'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'claimed'), _negated=True), models.Q(('lease_until__isnull', False), ('token__isnull', False)), _connector='OR'), name='import_part_claimed_has_a_lease')],
                },
            ),
            migrations.CreateModel(
                name='Lineage',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('code', models.TextField(blank=True, help_text='What the label said then; empty where it was the row itself.')),
                    ('how', models.CharField(blank=True, choices=[('gold', 'gold'), ('rater', 'the rater that was named'), ('majority', 'what most people said')], max_length=8)),
                    ('assignment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.assignment')),
                    ('column', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.column')),
                    ('made_column', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='lineage', to='annotation.column')),
                    ('made_row', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='lineage', to='annotation.row')),
                    ('question', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
                    ('row', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='made', to='annotation.row')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lineage', to='annotation.study')),
                ],
                options={
                    'verbose_name_plural': 'lineage',
                    'ordering': ['pk'],
                    'indexes': [models.Index(fields=['assignment', 'column', 'question'], name='lineage_by_cell')],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('made_column', None), ('made_row__isnull', False)), models.Q(('made_column__isnull', False), ('made_row', None)), _connector='OR'), name='lineage_of_a_row_or_a_column'), models.CheckConstraint(condition=models.Q(models.Q(('code', ''), ('how', '')), models.Q(models.Q(('code', ''), _negated=True), ('how__in', ['gold', 'rater', 'majority'])), _connector='OR'), name='lineage_says_how_a_label_was_chosen')],
                },
            ),
            migrations.CreateModel(
                name='Attempt',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=64)),
                    ('at', models.DateTimeField(db_index=True)),
                ],
                options={
                    'indexes': [models.Index(fields=['key', 'at'], name='attempt_of_key')],
                },
            ),
            migrations.CreateModel(
                name='AuditEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(auto_now_add=True, db_index=True)),
                    ('kind', models.CharField(choices=[('login', 'log-in'), ('login-failed', 'failed log-in'), ('login-limited', 'too many log-ins'), ('logout', 'log-out'), ('password', 'password'), ('second-factor', 'second factor'), ('account', 'account'), ('role', 'role'), ('invite', 'invitation'), ('consent', 'consent'), ('export', 'export'), ('token', 'API token'), ('key', 'API key used'), ('deletion', 'deletion'), ('admin', 'administration')], max_length=16)),
                    ('by', models.BigIntegerField(help_text='The number of the account that did it.', null=True)),
                    ('of', models.BigIntegerField(help_text='The number of the account that it was done to.', null=True)),
                    ('what', models.CharField(blank=True, max_length=300)),
                    ('address', models.GenericIPAddressField(null=True)),
                    ('study', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='audit_events', to='annotation.study')),
                ],
                options={
                    'ordering': ['-pk'],
                    'indexes': [models.Index(fields=['study', '-id'], name='audit_event_of_study')],
                },
            ),
            migrations.CreateModel(
                name='Consent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('text', models.TextField()),
                    ('agreed_at', models.DateTimeField(auto_now_add=True)),
                    ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consents', to='annotation.study')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consents', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['study', 'agreed_at'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('study', 'user'), name='consent_stands_once_a_study')],
                },
            ),
            migrations.CreateModel(
                name='Arrival',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.UUIDField(default=uuid.uuid4, help_text='Of this attempt: who writes under another one is too late.')),
                    ('owner', models.CharField(blank=True, help_text='Who may begin it anew at once.', max_length=80)),
                    ('made', models.JSONField(default=dict, help_text='What it makes: {kind: [[first key, last key], …]}')),
                    ('beat_at', models.DateTimeField()),
                    ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='arrival', to='annotation.study')),
                ],
            ),
            migrations.CreateModel(
                name='Background',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('answers', models.JSONField(default=dict, help_text='{question: option or value}')),
                    ('told_at', models.DateTimeField(auto_now_add=True)),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='backgrounds', to='annotation.study')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='backgrounds', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['study', 'pk'],
                    'constraints': [models.UniqueConstraint(fields=('study', 'user'), name='background_once_a_study')],
                },
            ),
            migrations.CreateModel(
                name='Experiment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('seed', models.PositiveIntegerField()),
                    ('drawn_at', models.DateTimeField(auto_now_add=True)),
                    ('drawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='experiments', to='annotation.rater')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='experiments', to='annotation.study')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='ExperimentSeat',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('shown', models.BooleanField()),
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='experiment_seat', to='annotation.assignment')),
                    ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='annotation.experiment')),
                ],
            ),
            migrations.CreateModel(
                name='Deletion',
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
                    ('title', models.CharField(max_length=200)),
                    ('started_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('study', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='deletions', to='annotation.study')),
                ],
                options={
                    'ordering': ['-started_at', '-pk'],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), ('ended_at', None)), models.Q(models.Q(('state', 'running'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='deletion_ended_has_its_time')],
                },
            ),
            migrations.CreateModel(
                name='DeletionPart',
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
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotation.deletion')),
                ],
                options={
                    'indexes': [models.Index(fields=['run', 'state'], name='deletion_part_by_state')],
                    'constraints': [models.UniqueConstraint(fields=('run',), name='deletion_part_once_a_deletion'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'claimed'), _negated=True), models.Q(('lease_until__isnull', False), ('token__isnull', False)), _connector='OR'), name='deletion_part_claimed_has_a_lease')],
                },
            ),
        ]),
        migrations.RunPython(_sample(1000), _sample(-1), elidable=False),
    ]
