import assert from "node:assert/strict";
import { test } from "node:test";
import { completions, suggested, writtenOut } from "../../static/palate/core/completing.js";

const OFFERS = ["flour", "water", "wet dough", "Flour", "dough"];
const shown = (...args) => completions(...args).map((one) => one.shown);

test("what begins so comes before what has a word that does", () => {
  assert.deepEqual(shown(OFFERS, "d"), ["dough", "wet dough"]);
});

test("of a list its last part is completed, and what it has already is not offered", () => {
  assert.deepEqual(completions(OFFERS, "flour; w", { separator: ";" }), [
    { text: "flour; water", shown: "water" },
    { text: "flour; wet dough", shown: "wet dough" },
  ]);
  assert.deepEqual(shown(OFFERS, "water;f", { separator: ";" }), ["Flour"]);
  assert.deepEqual(shown(OFFERS, "flour; ", { separator: ";", all: true }), ["water", "wet dough", "dough"]);
});

test("nothing is offered where nothing is typed, nor what stands there as it is", () => {
  assert.deepEqual(shown(OFFERS, ""), []);
  assert.deepEqual(shown(OFFERS, "dough"), ["wet dough"]);
});

test("an empty cell most likely says what came last, and what its line names besides", () => {
  const things = ["olive oil", "artichoke hearts", "tomatoes", "dough", "salt"];
  const said = (nearest, line, separator = ";") => suggested({ nearest, things, line, separator, nothing: "NA" });
  assert.equal(said(["pizza"], "top with artichoke heart ."), "pizza; artichoke hearts");
  assert.equal(said([], "Brush the dough with oil and slice a tomato"), "olive oil; tomatoes; dough");
  assert.equal(said(["Dough"], "knead the dough"), "Dough");
  assert.equal(said([], "preheat the oven"), "NA");
  assert.equal(said(["pizza", "salad"], "serve", ""), "pizza");
});

test("the beginning of a single option becomes that option", () => {
  const options = ["person", "organisation", "loc", "location", "Olympic Games"];
  assert.equal(writtenOut(options, "pe"), "person");
  assert.equal(writtenOut(options, " PERSON "), "person");
  assert.equal(writtenOut(options, "ol"), "Olympic Games");
  for (const left of ["", "  ", "o", "lo", "xy", "loc"]) assert.equal(writtenOut(options, left), left);
  assert.equal(writtenOut(options, "person, or", true), "person, organisation");
  assert.equal(writtenOut(options, "person, ", true), "person, ");
});

test("a comma within a word of a list is written with a backslash, and read as a part of the word", () => {
  const options = ["Washington, D.C.", "Oslo"];
  assert.equal(writtenOut(options, "wa", true), "Washington\\, D.C.");
  assert.equal(writtenOut(options, "Oslo, wa", true), "Oslo, Washington\\, D.C.");
  assert.equal(writtenOut(options, "washington\\, d", true), "Washington\\, D.C.");
  assert.equal(writtenOut(options, "wa"), "Washington, D.C.");
  const how = { separator: ",", escapes: true, all: true };
  assert.deepEqual(completions(options, "Oslo, ", how), [
    { text: "Oslo, Washington\\, D.C.", shown: "Washington, D.C." },
  ]);
  assert.deepEqual(completions(options, "Washington\\, D.C., ", how), [
    { text: "Washington\\, D.C., Oslo", shown: "Oslo" },
  ]);
});

test("as many are shown as there are", () => {
  const many = Array.from({ length: 20 }, (_, n) => `type ${n}`);
  assert.equal(shown(many, "", { all: true, most: many.length }).length, 20);
  assert.equal(shown(many, "", { all: true }).length, 8);
});
