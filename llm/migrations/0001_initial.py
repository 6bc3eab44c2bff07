"""Language models and prompts, as the judges' app had them: their tables are there and are renamed by judges.0003."""

from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [("judges", "0003_models_and_prompts_leave")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='Prompt',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(max_length=100)),
                        ('text', models.TextField()),
                        ('digest', models.CharField(max_length=64, unique=True)),
                    ],
                    options={
                        'ordering': ['name'],
                    },
                ),
                migrations.CreateModel(
                    name='LanguageModel',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(max_length=100, unique=True)),
                        ('backend', models.CharField(choices=[('transformers', 'in a worker of this installation'), ('openai', 'on an OpenAI-compatible server')], default='transformers', max_length=12)),
                        ('location', models.CharField(help_text='A hub id, a folder, a .gguf file, or package:NAME for weights in a Python package; of a server its address up to and with the version, such as http://gpu-box:8000/v1.', max_length=500)),
                        ('revision', models.CharField(blank=True, help_text='Commit or tag on the hub; pin it for a study.', max_length=100)),
                        ('gguf_file', models.CharField(blank=True, max_length=200)),
                        ('dtype', models.CharField(choices=[('auto', 'auto'), ('float32', 'float32'), ('bfloat16', 'bfloat16')], default='auto', max_length=10)),
                        ('device', models.CharField(choices=[('cpu', 'CPU workers'), ('cuda', 'GPU workers')], default='cpu', max_length=8)),
                        ('served_name', models.CharField(blank=True, help_text="The model's name on the server.", max_length=200)),
                        ('api_key_env', models.CharField(blank=True, help_text="Name of the environment variable of the workers that holds the server's key; the key itself is never stored. Empty if the server wants none.", max_length=100)),
                        ('requests_per_minute', models.PositiveIntegerField(blank=True, help_text='Most requests of one worker process to the server; empty for no limit.', null=True)),
                    ],
                    options={
                        'ordering': ['name'],
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('api_key_env', ''), ('backend', 'transformers'), ('requests_per_minute', None), ('served_name', '')), models.Q(('backend', 'openai'), ('device', 'cpu'), ('dtype', 'auto'), ('gguf_file', ''), ('revision', ''), models.Q(('served_name', ''), _negated=True)), _connector='OR'), name='language_model_has_what_its_backend_takes', violation_error_message='A model on a server has the name that the server knows it by, and no revision, GGUF file, dtype or GPU of ours. Any other model has no name on a server, no key and no limit of requests.'), models.CheckConstraint(condition=models.Q(('requests_per_minute', None), ('requests_per_minute__gte', 1), _connector='OR'), name='language_model_may_ask_something', violation_error_message='At least one request a minute, or no limit.')],
                    },
                ),
            ],
        )
    ]
