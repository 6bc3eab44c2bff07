"""What a manager sees before a judge is certified."""

from __future__ import annotations

from playwright.sync_api import expect

from annotation.models import Question
from judges.models import Judge
from llm.actions import store_prompt
from reports.hiring import actions
from tests.journeys.conftest import Browsing
from tests.reports.hiring import simulated

OPTIONS = "options: [{key: so, label: So}, {key: not, label: Not so}], ask_unless: {made: [made, other]}"
SCHEME = f"""{simulated.SCHEME}\
      - {{key: again, title: Again, {OPTIONS}}}
      - {{key: clear, title: Clear, {OPTIONS}}}
"""
PROMPT = f"""{simulated.PROMPT}\
  claims.again:
    cell: |
      Is "$about" claimed again?
      Answer:
"""


def test_the_question_that_was_chosen_stays_chosen(browsing: Browsing, transactional_db: None) -> None:
    """Each change brings the questions anew, since another judge answers others."""
    world = simulated.world(n_sheets=1, n_rows=6, n_labelled=4, scheme=SCHEME)
    Judge.objects.filter(pk=world.judge.pk).update(prompt=store_prompt(name="two", text=PROMPT))
    actions.draw_split(study=world.study, unit="row", share=50, seed=1, by=world.manager)
    again, clear = (Question.objects.get(key=key) for key in ("again", "clear"))
    page = browsing.person("mara")
    page.goto(f"/studies/{world.study.slug}/hiring/certify/")
    question, cost = page.locator("#id_question"), page.locator("#cost")
    expect(cost).to_contain_text("what to expect")
    expect(question).to_have_value(str(world.question.pk))
    expect(question.locator(f"[value='{clear.pk}']")).to_be_disabled()
    expect(question.locator(f"[value='{clear.pk}']")).to_have_text("Clear: not answered by “scorer”")
    question.focus()
    page.keyboard.press("ArrowDown")
    expect(cost).to_contain_text("0 development pages")
    expect(question).to_have_value(str(again.pk))
    expect(question).to_be_focused()
