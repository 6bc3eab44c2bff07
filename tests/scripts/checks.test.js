import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { findings } from "../../static/palate/core/checks.js";

const { words, tables, examples } = JSON.parse(readFileSync(new URL("../rules/checks.json", import.meta.url), "utf8"));

/** The answers of an example, as the grid has them: a line a column, from top to bottom. */
function linesOf({ answers, columns }) {
  const lines = new Map(
    Object.keys(columns).map((key) => [Number(key), { place: Number(key), answers: {}, facets: columns[key] }]),
  );
  for (const [place, question, value] of answers) {
    const line = lines.get(place) ?? { place, answers: {}, facets: columns[place] };
    line.answers[question] = value;
    lines.set(place, line);
  }
  return [...lines.values()].sort((a, b) => a.place - b.place);
}

describe("the table of examples that the server is held to as well", () => {
  for (const example of examples)
    test(example.name, () => {
      const found = findings(tables[example.table].script, linesOf(example), example.row, words);
      const told = found.map(({ place, question, rule, level, message }) => [place, question, rule, level, message]);
      assert.deepEqual(told, example.findings);
    });
});
