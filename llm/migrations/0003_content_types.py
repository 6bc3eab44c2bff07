"""Permissions and the administrators' log, which name a table by its app, go along with language models and prompts."""

from django.db import migrations

_MODELS = ("languagemodel", "prompt")


def _move(apps, *, was, becomes):
    types = apps.get_model("contenttypes", "ContentType").objects
    for model in _MODELS:
        moved = types.filter(app_label=was, model=model)
        if moved.exists() and not types.filter(app_label=becomes, model=model).exists():
            moved.update(app_label=becomes)


def forwards(apps, schema_editor):
    _move(apps, was="judges", becomes="llm")


def backwards(apps, schema_editor):
    _move(apps, was="llm", becomes="judges")


class Migration(migrations.Migration):

    dependencies = [
        ("llm", "0002_backends_of_an_installation"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(forwards, backwards)]
