import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { valueCode, valueIn } from "../../static/palate/core/codes.js";
import {
  after,
  numbersTaken,
  partsOf,
  readings,
  readValue,
  shownValue,
  signOf,
  warningsOf,
  writtenValue,
} from "../../static/palate/core/values.js";

const { words, questions, examples } = JSON.parse(
  readFileSync(new URL("../rules/values.json", import.meta.url), "utf8"),
);

for (const { question: name, typed, nothing, refused, code, ...says } of examples)
  test(`${name}: ${JSON.stringify(typed).slice(0, 60)}`, () => {
    const question = questions[name].script;
    const read = readValue(question, typed, words);
    if (nothing) return assert.equal(read, null);
    if (refused)
      return assert.ok("refused" in read && read.refused.includes(refused), read.refused ?? valueCode(read.value));
    assert.equal(valueCode(read.value), code);
    const value = valueIn(code);
    assert.deepEqual(value, read.value);
    assert.equal(shownValue(question, value), says.shown);
    assert.equal(writtenValue(question, value), says.written);
    assert.deepEqual(readValue(question, says.written, words), { value });
    if (says.sign) assert.equal(signOf(question, value), says.sign);
    if (says.warnings) assert.deepEqual(warningsOf(question, value, words), says.warnings);
    if (says.parts) assert.deepEqual(partsOf(question, value), says.parts);
  });

test("both readings of a number are offered, as far as they are answers", () => {
  const anyNumber = questions["any number"].script;
  const upTo = { ...anyNumber, number: { min: 0, max: 500, step: null, unit: "g" } };
  assert.deepEqual(readings(anyNumber, "1,234", words), ["1.234", "1234"]);
  assert.deepEqual(readings(anyNumber, "−12,000", words), ["-12", "-12000"]);
  assert.deepEqual(readings(upTo, "1,234 g", words), ["1.234"]);
  assert.deepEqual(readings(upTo, "501,000", words), []);
  assert.deepEqual(readings(questions.whole.script, "1.000", words), ["1", "1000"]);
  for (const typed of ["", "12,5", "1234", "1,234,567", "x"]) assert.deepEqual(readings(anyNumber, typed, words), []);
});

test("which numbers are answers is said before one is written", () => {
  const said = {
    takesFrom: "from {min}",
    takesTo: "up to {max}",
    takesBetween: "{min} to {max}",
    takesSteps: "steps of {step}",
  };
  const any = { min: null, max: null, step: null, unit: "" };
  assert.equal(numbersTaken(any, said), "");
  assert.equal(numbersTaken({ min: 0, max: 500, step: 0.5, unit: "g" }, said), "0 to 500 · steps of 0.5 · g");
  assert.equal(numbersTaken({ ...any, min: -1.5 }, said), "from -1.5");
  assert.equal(numbersTaken({ ...any, max: 0 }, said), "up to 0");
});

test("what a step does not touch lives on", () => {
  const dough = [{ from: ["Flour", "water"], to: ["dough"] }];
  assert.deepEqual(after(["flour", "water", "salt"], dough), ["salt", "dough"]);
});
