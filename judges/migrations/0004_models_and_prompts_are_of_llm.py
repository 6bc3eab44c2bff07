"""The second half of 0003: what refers to language models and prompts refers to those of their new app."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("judges", "0003_models_and_prompts_leave"), ("llm", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="extractor",
                    name="model",
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="extractors", to="llm.languagemodel"),
                ),
                migrations.AlterField(
                    model_name="judge",
                    name="model",
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="judges", to="llm.languagemodel"),
                ),
                migrations.AlterField(
                    model_name="judge",
                    name="prompt",
                    field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="judges", to="llm.prompt"),
                ),
                migrations.DeleteModel(name="LanguageModel"),
                migrations.DeleteModel(name="Prompt"),
            ],
        )
    ]
