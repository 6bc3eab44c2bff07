import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { proposals } from "../../static/palate/core/carrying.js";
import { foundPlaces, readPlaces, wordsAt, writtenPlaces } from "../../static/palate/core/places.js";
import {
  draftOfRecords,
  inserted,
  placesIn,
  proposedIn,
  readLines,
  shifted,
  tiedTo,
  withPlaces,
} from "../../static/palate/core/records.js";
import { shownValue } from "../../static/palate/core/values.js";

/** @param {string} name */
const read = (name) => JSON.parse(readFileSync(new URL(`../rules/${name}.json`, import.meta.url), "utf8"));
const [PLACES, CARRYING, { words }] = [read("places"), read("carrying"), read("values")];

for (const { text, written } of PLACES.read)
  test(`a place is read in one spelling: ${text}`, () => {
    const places = readPlaces(text);
    assert.equal(places && writtenPlaces(places), written);
  });

for (const { texts, place, words: said } of PLACES.words)
  test(`words at ${place}`, () => assert.equal(wordsAt(texts, readPlaces(place) ?? []), said));

for (const { says, question, texts, records, found } of PLACES.found)
  test(says, () => assert.deepEqual(foundPlaces(PLACES.questions[question].script, records, texts), found));

for (const { says, records, words: said, proposed } of CARRYING.examples)
  test(says, () => {
    const made = records.map(([task, tool, ingredients]) => ({ task, tool, ingredients, words: "" }));
    assert.deepEqual(
      made.map((_record, at) => proposals(CARRYING.script, made, at, said)),
      proposed,
    );
  });

const spec = { kind: "items", title: "Tasks", items: CARRYING.script };
const texts = ["Whisk the eggs and the milk in a bowl.", "Pour the Batter into a pan."];
const whisk = { task: "whisk", tool: "bowl", ingredients: ["eggs", "milk"], words: "0:0-37" };
const pour = { task: "pour into", tool: "", ingredients: [], words: "" };

test("an entry keeps its words when it is moved, and what is found is kept when the list is taken", () => {
  const draft = draftOfRecords(spec, [whisk, pour]);
  assert.deepEqual(placesIn(spec, draft.lines, texts), [
    { place: "0:0-37", isFound: false },
    { place: "1:0-20", isFound: true },
  ]);
  const moved = shifted(inserted(draft), -1);
  assert.deepEqual(
    moved.lines.map((line) => line[3]),
    ["", "0:0-37", ""],
  );
  const taken = readLines(spec, withPlaces(spec, draft.lines, texts), words);
  assert.deepEqual(taken, { value: [whisk, { ...pour, words: "1:0-20" }] });
  assert.equal(shownValue(spec, taken.value), "whisk · bowl · eggs, milk; pour into");
});

test("words that are marked in the document become those of the entry, and its text where it has none", () => {
  const draft = draftOfRecords(spec, [whisk]);
  const places = [{ block: 1, start: 0, end: 4 }];
  assert.deepEqual(tiedTo(spec, draft, places, texts).lines[0], ["whisk", "bowl", "eggs, milk", "1:0-4"]);
  assert.deepEqual(tiedTo(spec, inserted(draft), places, texts).lines[1], ["Pour", "", "", "1:0-4"]);
});

test("what is proposed is the text of a field, and a place that is none is refused", () => {
  const { lines } = draftOfRecords(spec, [whisk, pour]);
  assert.deepEqual(
    [...proposedIn(spec, lines, 1, texts)],
    [
      [1, "bowl"],
      [2, "Batter"],
    ],
  );
  const refused = readLines(spec, [["whisk", "", "", "somewhere"]], words);
  assert.deepEqual(refused, {
    refused: "“somewhere” is no place in the document, such as 3:10-24: a block, from and to a character.",
  });
});
