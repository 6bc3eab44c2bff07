"""The tables of language models and prompts get the names of their new app, with all that is in them.

The state moves in llm.0001 and judges.0004: no foreign key is dropped or made, a renamed table keeps those to it.
"""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("judges", "0002_work_machine")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.AlterModelTable("LanguageModel", "llm_languagemodel"),
                migrations.AlterModelTable("Prompt", "llm_prompt"),
            ],
        )
    ]
