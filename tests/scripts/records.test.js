import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  appended,
  draftOfRecords,
  filledIn,
  inserted,
  offersIn,
  pastedLines,
  problemsIn,
  readLines,
  shifted,
  without,
  written,
} from "../../static/palate/core/records.js";
import { Trail } from "../../static/palate/core/trail.js";
import { readValue, writtenValue } from "../../static/palate/core/values.js";

const { words, questions } = JSON.parse(readFileSync(new URL("../rules/values.json", import.meta.url), "utf8"));
const parts = questions.parts.script; // task (required), tool, ingredients (a list); three at most, texts of 20 characters
const records = [
  { task: "mix", tool: "bowl", ingredients: ["flour", "salt, fine"] },
  { task: "bake", tool: "", ingredients: [] },
];

test("a list is edited as lines of texts, and read back as it was", () => {
  const draft = draftOfRecords(parts, records);
  assert.deepEqual(draft.lines, [
    ["mix", "bowl", "flour, salt\\, fine"],
    ["bake", "", ""],
  ]);
  assert.deepEqual(readLines(parts, draft.lines, words), { value: records });
  assert.deepEqual(readLines(parts, draft.lines, words), readValue(parts, writtenValue(parts, records), words));
});

test("empty lines are no records, and nothing but them is no answer", () => {
  const { lines } = appended(draftOfRecords(parts, records));
  assert.deepEqual(lines[2], ["", "", ""]);
  assert.deepEqual(appended({ lines, y: 0, x: 1 }), { lines, y: 2, x: 0 });
  assert.deepEqual(readLines(parts, lines, words), { value: records });
  assert.equal(readLines(parts, draftOfRecords(parts, []).lines, words), null);
});

test("lines are written, put in, taken out and moved, and the caret goes with them", () => {
  let draft = written({ ...draftOfRecords(parts, records), y: 1, x: 1 }, "oven");
  assert.deepEqual(draft.lines[1], ["bake", "oven", ""]);
  draft = shifted(draft, -1);
  assert.deepEqual([draft.lines.map(([task]) => task), draft.y, draft.x], [["bake", "mix"], 0, 1]);
  assert.equal(shifted(draft, -1), draft);
  draft = inserted(draft);
  assert.deepEqual([draft.lines.map(([task]) => task), draft.y, draft.x], [["bake", "", "mix"], 1, 0]);
  draft = without(without(draft));
  assert.deepEqual([draft.lines.map(([task]) => task), draft.y], [["bake"], 0]);
  assert.deepEqual(without(draft).lines, [["", "", ""]]);
});

test("lines of a spreadsheet, or of the text form, go in from the caret on", () => {
  assert.equal(pastedLines("one text, with a comma"), null);
  assert.equal(pastedLines("one line\r\n"), null);
  assert.deepEqual(pastedLines("knead\tbench\r\nbake\toven\r\n"), [
    ["knead", "bench"],
    ["bake", "oven"],
  ]);
  assert.deepEqual(pastedLines("mix | bowl | flour\nbake\\|roast"), [["mix", "bowl", "flour"], ["bake|roast"]]);
  const draft = { ...draftOfRecords(parts, records), y: 1, x: 1 };
  const { draft: filled, left } = filledIn(draft, [
    ["oven", "dough"],
    ["rack", "bread", "too much"],
  ]);
  assert.deepEqual(filled.lines.slice(1), [
    ["bake", "oven", "dough"],
    ["", "rack", "bread"],
  ]);
  assert.deepEqual([filled.y, filled.x, left], [2, 1, 1]);
});

test("what is wrong is said at its line", () => {
  const lines = [
    ["mix", "", ""],
    ["", "", ""],
    ["", "bowl", ""],
    ["bake", "", `x, ${"y".repeat(21)}`],
  ];
  const problems = problemsIn(parts, lines, words);
  assert.deepEqual([...problems.keys()], [2, 3]);
  assert.deepEqual(problems.get(2), { x: 0, sentence: "Entry 3 of “Parts” has no “Task”." });
  assert.equal(problems.get(3)?.x, 2);
  assert.ok("refused" in readLines(parts, lines, words));
});

test("offered is what stands near, then what was answered before, then what the scheme gives", () => {
  const scheme = structuredClone(parts);
  scheme.items.fields[2].completions = ["salt"];
  const lines = [
    ["mix", "bowl", "flour, water"],
    ["bake", "oven", ""],
    ["eat", "", "bread"],
  ];
  const earlier = [[{ task: "rest", tool: "bowl", ingredients: ["dough"] }]];
  assert.deepEqual(offersIn(scheme, { lines, y: 1, x: 2 }, earlier), ["flour", "water", "bread", "dough", "salt"]);
  assert.deepEqual(offersIn(scheme, { lines, y: 1, x: 1 }, earlier), ["bowl", "bowl"]);
});

test("a field with options offers these alone, and a word that is none of them is told at its line", () => {
  const names = questions.names.script;
  const lines = [
    ["Anna", "PERSON", "Seller"],
    ["Bob", "pe", ""],
  ];
  const earlier = [[{ words: "Eve", type: "persona", roles: ["lender"] }]];
  assert.deepEqual(offersIn(names, { lines, y: 1, x: 1 }, earlier), ["person", "Straße", "pers. group"]);
  assert.deepEqual(
    [...problemsIn(names, lines, words)],
    [[1, { x: 1, sentence: "“Type” of “Names” is one of these, not “pe”: person, Straße, pers. group." }]],
  );
  assert.deepEqual(readLines(names, lines.slice(0, 1), words), {
    value: [{ words: "Anna", type: "person", roles: ["seller"] }],
  });
});

test("letters of one field are taken back together", () => {
  const trail = new Trail();
  trail.keep("", "letters");
  trail.keep("a", "letters");
  trail.keep("ab");
  assert.equal(trail.turn("(line out)", true), "ab");
  assert.equal(trail.turn("ab", true), "");
  assert.equal(trail.turn("", true), null);
  assert.equal(trail.turn("", false), "ab");
  trail.keep("ab", "letters");
  assert.equal(trail.turn("abc", false), null);
});

test("a bar alone says that there is nothing to list", () => {
  const read = readLines(
    parts,
    [
      ["", "", ""],
      [" | ", "", ""],
    ],
    words,
  );
  assert.deepEqual(read, { value: [] });
  assert.equal(problemsIn(parts, [["|", "", ""]], words).size, 0);
  assert.equal(readLines(parts, [["", "", ""]], words), null);
  assert.deepEqual(
    readLines(
      parts,
      [
        ["|", "", ""],
        ["mix", "", ""],
      ],
      words,
    ).value?.length,
    2,
  );
});
