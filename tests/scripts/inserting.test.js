import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { insertion, questionLists, withFreeKeys } from "../../static/palate/core/inserting.js";

const SNIPPET = "# Yes or no.\n- key: so\n  title: Is it so?\n  kind: flag\n";
const BEGINNING = "key: mine\nsections:\n  - key: text\n    questions:\n";

/** What the text is afterwards, with what is selected in brackets. */
function after(text, caret = text.length) {
  const { at, end, put, from, to } = insertion(text, caret, SNIPPET, BEGINNING);
  const whole = text.slice(0, at) + put + text.slice(end);
  return `${whole.slice(0, from)}[${whole.slice(from, to)}]${whole.slice(to)}`;
}

describe("a question comes behind the last one of its list", () => {
  const EXAMPLES = [
    {
      what: "of the only list, before what follows it",
      text: "sections:\n  - key: a\n    questions:\n      - key: one\n        title: One\n\n# The end.\nblocks: []\n",
      wanted:
        "sections:\n  - key: a\n    questions:\n      - key: one\n        title: One\n      # Yes or no.\n      - key: so\n" +
        "        title: [Is it so?]\n        kind: flag\n\n# The end.\nblocks: []\n",
    },
    {
      what: "whose items are no further in than their key",
      text: "sections:\n- questions:\n  - {key: one}",
      wanted:
        "sections:\n- questions:\n  - {key: one}\n  # Yes or no.\n  - key: so\n    title: [Is it so?]\n    kind: flag",
    },
    {
      what: "of the list in which the caret stands",
      text: "sections:\n  - questions:\n      - key: |one\n  - questions:\n      - key: two\n",
      wanted:
        "sections:\n  - questions:\n      - key: one\n      # Yes or no.\n      - key: so\n        title: [Is it so?]\n" +
        "        kind: flag\n  - questions:\n      - key: two\n",
    },
    {
      what: "of a list that is empty yet",
      text: "sections:\n  - key: a\n    questions:   # what is asked\n    guideline: Read.\n",
      wanted:
        "sections:\n  - key: a\n    questions:   # what is asked\n      # Yes or no.\n      - key: so\n        title: [Is it so?]\n" +
        "        kind: flag\n    guideline: Read.\n",
    },
    {
      what: "and into nothing comes a whole scheme",
      text: " \n",
      wanted: `${BEGINNING}      # Yes or no.\n      - key: so\n        title: [Is it so?]\n        kind: flag\n`,
    },
    {
      what: "and where no list is, it comes below the line of the caret",
      text: "key: |a\ntitle: A",
      wanted: "key: a\n      # Yes or no.\n      - key: so\n        title: [Is it so?]\n        kind: flag\ntitle: A",
    },
  ];
  for (const { what, text, wanted } of EXAMPLES)
    test(what, () => {
      const caret = text.indexOf("|") < 0 ? text.length : text.indexOf("|");
      assert.equal(after(text.replace("|", ""), caret), wanted);
    });
});

test("a list goes on behind comments, empty lines and texts of several lines", () => {
  const lines = "questions:\n  - key: a\n\n# aside\n    help: |\n      one\n  - key: b\n  # ends here\nkey: x".split(
    "\n",
  );
  assert.deepEqual(questionLists(lines), [{ first: 0, last: 6, indent: 2 }]);
});

test("a key that the text has gets a number, wherever the snippet names it", () => {
  const text = "- {key: known, label: x}\n- key: known-2\n";
  const snippet = "- key: known\n  kind: flag\n- key: from\n  ask_unless: {known: [no]}\n";
  assert.equal(
    withFreeKeys(text, snippet),
    "- key: known-3\n  kind: flag\n- key: from\n  ask_unless: {known-3: [no]}\n",
  );
});
