// The order of a table's lines.

import assert from "node:assert/strict";
import { test } from "node:test";

import { sortedPlaces } from "../../static/palate/core/sorting.js";

/** @param {number | null} number */
const line = (number, text = "", part = false) => ({ number, text, part });

test("numbers are sorted as numbers, and what has none stands last either way", () => {
  const lines = [line(10), line(null, "–"), line(9), line(100)];
  assert.deepEqual(sortedPlaces(lines, true), [2, 0, 3, 1]);
  assert.deepEqual(sortedPlaces(lines, false), [3, 0, 2, 1]);
});

test("a part stays below its line", () => {
  const lines = [line(5), line(1, "", true), line(2), line(9, "", true)];
  assert.deepEqual(sortedPlaces(lines, true), [2, 3, 0, 1]);
});

test("texts are sorted as the language has them, with numbers in them", () => {
  const lines = [line(null, "Zebra 10"), line(null, "Zebra 9"), line(null, "čas"), line(null, "cíl")];
  assert.deepEqual(sortedPlaces(lines, true, "cs"), [3, 2, 1, 0]);
});
