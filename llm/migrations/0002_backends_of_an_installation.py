"""An installation may add backends of its own: the field takes their names, and the constraint leaves them alone."""

from django.db import migrations, models

import llm.registry


class Migration(migrations.Migration):

    dependencies = [("llm", "0001_initial"), ("judges", "0004_models_and_prompts_are_of_llm")]

    operations = [
        migrations.RemoveConstraint(model_name="languagemodel", name="language_model_has_what_its_backend_takes"),
        migrations.AlterField(
            model_name="languagemodel",
            name="backend",
            field=models.CharField(choices=llm.registry.choices, default="transformers", max_length=40),
        ),
        migrations.AddConstraint(
            model_name="languagemodel",
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('api_key_env', ''), ('backend', 'transformers'), ('requests_per_minute', None), ('served_name', '')), models.Q(('backend', 'openai'), ('device', 'cpu'), ('dtype', 'auto'), ('gguf_file', ''), ('revision', ''), models.Q(('served_name', ''), _negated=True)), models.Q(('backend__in', ['transformers', 'openai']), _negated=True), _connector='OR'), name='language_model_has_what_its_backend_takes', violation_error_message='A model on a server has the name that the server knows it by, and no revision, GGUF file, dtype or GPU of ours. Any other model has no name on a server, no key and no limit of requests.'),
        ),
    ]
