import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { askedOf, changed, settled, switched } from "../../static/palate/core/rules.js";

const table = JSON.parse(readFileSync(new URL("../rules/examples.json", import.meta.url), "utf-8"));

// As the server gives them to the page.
const rulesOf = ({ section, presets = {} }) =>
  table.sections[section].questions.map(({ key, ask_unless = {} }) => ({
    question: key,
    askUnless: ask_unless,
    preset: presets[key] ?? "",
  }));

const answered = (codes) => Object.fromEntries(Object.entries(codes).filter(([, code]) => code));

describe("the table of examples that the server is held to as well", () => {
  for (const example of table.examples)
    test(example.name, () => {
      const { codes, asked, left } = changed(rulesOf(example), example.before, example.changes);
      assert.deepEqual(answered(codes), example.after);
      assert.deepEqual([...asked], example.asked);
      const questions = left.map((place) => example.changes[place][0]);
      assert.deepEqual(questions, example.left ?? []);
    });
});

describe("what stands after changes", () => {
  for (const example of table.examples)
    test(`${example.name}: stands as it is when nothing more changes`, () => {
      const rules = rulesOf(example);
      const { codes, asked } = switched(rules, example.after);
      assert.deepEqual(answered(codes), example.after);
      assert.deepEqual(asked, askedOf(rules, example.after));
      assert.deepEqual(changed(rules, example.after, []).left, []);
    });
});

test("a text of a question above switches off as an option does", () => {
  const rules = [
    { question: "input", askUnless: {}, preset: "" },
    { question: "weight", askUnless: { input: ["NA"] }, preset: "" },
  ];
  assert.deepEqual([...askedOf(rules, { input: ':"NA"' })], ["input"]);
  assert.deepEqual([...askedOf(rules, { input: '~:"NA"' })], ["input"]);
  assert.deepEqual([...askedOf(rules, { input: ':"flour"' })], ["input", "weight"]);
});

test("what has just been cleared is not filled in", () => {
  const rules = [
    { question: "act", askUnless: {}, preset: "" },
    { question: "party", askUnless: {}, preset: "none" },
  ];
  assert.deepEqual(settled(rules, { act: "found" }, new Set()).codes, { act: "found", party: "=none" });
  assert.deepEqual(settled(rules, { act: "found" }, new Set(["party"])).codes, { act: "found", party: "" });
});
