import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as codes from "../../static/palate/core/codes.js";

const EXAMPLES = [
  { code: "", answer: { kind: "nothing", by: "chosen" } },
  { code: "found", answer: { kind: "option", by: "chosen", option: "found" } },
  { code: "=no-tool", answer: { kind: "option", by: "preset", option: "no-tool" } },
  { code: "~found", answer: { kind: "option", by: "draft", option: "found" } },
  { code: "!Torn page", answer: { kind: "skip", by: "chosen", reason: "Torn page" } },
  { code: "!=", answer: { kind: "skip", by: "chosen", reason: "=" } },
  { code: ':"flour; water"', answer: { kind: "value", by: "chosen", value: "flour; water" } },
  { code: ':"~=!:"', answer: { kind: "value", by: "chosen", value: "~=!:" } },
  { code: '=:"NA"', answer: { kind: "value", by: "preset", value: "NA" } },
  { code: "~:3.5", answer: { kind: "value", by: "draft", value: 3.5 } },
  { code: ":0", answer: { kind: "value", by: "chosen", value: 0 } },
  { code: ':""', answer: { kind: "value", by: "chosen", value: "" } },
  {
    code: ':[{"task":"mix","tool":"","ingredients":["žitná mouka","水"]}]',
    answer: { kind: "value", by: "chosen", value: [{ task: "mix", tool: "", ingredients: ["žitná mouka", "水"] }] },
  },
];

describe("a code and its parts", () => {
  for (const { code, answer } of EXAMPLES)
    test(code || "nothing", () => {
      assert.deepEqual(codes.parse(code), answer);
      assert.equal(codes.format(answer), code);
      assert.equal(codes.isPreset(code), answer.by === "preset");
      assert.equal(codes.isDraft(code), answer.by === "draft");
      assert.equal(codes.optionOf(code), answer.option ?? "");
      assert.equal(codes.reasonOf(code), answer.reason ?? "");
      assert.deepEqual(codes.valueIn(code), answer.value);
    });
});

test("an answer is the same whoever put it there", () => {
  assert.equal(codes.answerOf("=found"), codes.answerOf("found"));
  assert.equal(codes.answerOf('~:"flour"'), codes.answerOf(':"flour"'));
  assert.notEqual(codes.answerOf("!found"), codes.answerOf("found"));
  assert.notEqual(codes.answerOf(':"found"'), codes.answerOf("found"));
});

test("nothing stays nothing under a mark", () => {
  assert.equal(codes.presetCode(""), "");
  assert.equal(codes.draftCode(""), "");
});

test("a reason is trimmed, and cut between two characters", () => {
  assert.equal(codes.reasonFrom("  Torn page \n"), "Torn page");
  assert.equal(codes.reasonFrom("a".repeat(600)).length, 500);
  assert.equal(codes.reasonFrom(`${"a".repeat(499)}😀`), "a".repeat(499));
});

test("a rule compares options by key and texts by what they say", () => {
  assert.deepEqual(["=none", ':"NA"', "!Torn", ":3", ""].map(codes.saidBy), ["none", "NA", "!Torn", ":3", ""]);
});
