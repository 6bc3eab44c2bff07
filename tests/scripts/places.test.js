import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isAsked, isShown, isTarget, NO_WORD } from "../../static/palate/core/differences.js";
import { search } from "../../static/palate/core/finding.js";
import { keyName, keyPlace, keysWithAlt } from "../../static/palate/core/keys.js";
import { MOVING, movedTo } from "../../static/palate/core/moves.js";
import { steppedPlaces, wordsAt } from "../../static/palate/core/places.js";
import { boxOf, targets, through } from "../../static/palate/core/ranges.js";
import { fill } from "../../static/palate/core/sentences.js";

//   y0  a b c
//   y1  d e
//   y2  f g h
const LINES = ["abc", "de", "fgh"].map((line) => ({ cells: [...line] }));

describe("where a key leads", () => {
  const EXAMPLES = [
    ["ArrowRight", 0, 0, "b"],
    ["ArrowRight", 0, 2, "c"],
    ["ArrowLeft", 0, 0, "a"],
    ["ArrowDown", 0, 2, "e"], // the nearest of a shorter line
    ["ArrowDown", 2, 0, undefined],
    ["ArrowUp", 0, 1, undefined],
    ["Home", 2, 2, "f"],
    ["End", 1, 0, "e"],
    ["PageDown", 0, 0, "f"],
    ["PageUp", 2, 1, "b"],
    ["Ctrl+Home", 2, 2, "a"],
    ["Ctrl+End", 0, 0, "h"],
    ["Enter", 0, 0, undefined],
  ];
  for (const [key, y, x, cell] of EXAMPLES)
    test(`${key} from ${LINES[y].cells[x]}`, () => assert.equal(movedTo(key, LINES, { y, x }), cell));
  test("every key that moves has an example", () =>
    assert.deepEqual(MOVING.filter((key) => !EXAMPLES.some(([other]) => other === key)), [])); // biome-ignore format: short

  test("no key leads anywhere where there are no lines", () => {
    for (const key of MOVING) assert.equal(movedTo(key, [], { y: -1, x: 0 }), undefined);
  });
});

describe("a range", () => {
  test("is the same from either corner", () => {
    const box = { y0: 1, y1: 3, x0: 2, x1: 5 };
    for (const [y, x] of [[1, 2], [3, 5], [1, 5], [3, 2]]) // biome-ignore format: corners
      assert.deepEqual(boxOf({ y, x }, { y: 4 - y, x: 7 - x }), box);
  });

  test("is gone through cell by cell, either way, and round", () => {
    const box = { y0: 1, y1: 2, x0: 3, x1: 5 };
    for (const byColumns of [false, true])
      for (const step of [1, -1]) {
        const seen = [];
        let here = { y: 1, x: 3 };
        for (let n = 0; n < 6; n++) {
          seen.push(`${here.y} ${here.x}`);
          here = through(box, here, step, byColumns);
        }
        assert.equal(new Set(seen).size, 6);
        assert.deepEqual(here, { y: 1, x: 3 });
      }
    assert.deepEqual(through(box, { y: 1, x: 3 }, 1, false), { y: 1, x: 4 });
    assert.deepEqual(through(box, { y: 1, x: 3 }, 1, true), { y: 2, x: 3 });
    assert.deepEqual(through(box, { y: 1, x: 3 }, -1, true), { y: 2, x: 5 });
  });
});

describe("where pasted words go", () => {
  const drawn = (box, rows) => {
    const lines = new Map();
    for (const { y, x, word } of targets(box, rows)) lines.set(y, `${lines.get(y) ?? `${y}.${x}: `}${word || "·"}`);
    return [...lines.values()];
  };
  test("a single word fills the range", () =>
    assert.deepEqual(drawn({ y0: 1, y1: 2, x0: 0, x1: 2 }, [["a"]]), ["1.0: aaa", "2.0: aaa"]));
  test("a block fills a range that is a multiple of it", () =>
    assert.deepEqual(drawn({ y0: 0, y1: 1, x0: 0, x1: 3 }, [["a", "b"]]), ["0.0: abab", "1.0: abab"]));
  test("else it comes once, from the first cell on", () =>
    assert.deepEqual(drawn({ y0: 0, y1: 2, x0: 1, x1: 1 }, [["a", "b"], ["c"]]), ["0.1: ab", "1.1: c·"])); // biome-ignore format: a block
});

test("an item is found by any part of its name, without accents, those that begin so first", () => {
  const names = [[1, "spring onion"], [2, "žlutá cibule"], [3, "Cibulka"], [4, "onion (red)"]]; // biome-ignore format: a list
  assert.deepEqual(search(names, "ONION"), [1, 4]);
  assert.deepEqual(search(names, "ion"), [1, 4]);
  assert.deepEqual(search(names, "red"), [4]);
  assert.deepEqual(search(names, "zluta"), [2]);
  assert.deepEqual(search(names, "bul"), [2, 3]);
  assert.deepEqual(search(names, " "), []);
});

describe("the name of a key", () => {
  const press = (key, { code = "", held = [], ...more } = {}) => ({
    key,
    code,
    altKey: false,
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    isComposing: false,
    getModifierState: (name) => held.includes(name),
    ...more,
  });
  const EXAMPLES = [
    ["a letter", press("n"), "n"],
    ["a capital that Shift made says so itself", press("N", { shiftKey: true }), "N"],
    ["Caps Lock makes no other key", press("N", { held: ["CapsLock"] }), "n"],
    ["Shift is named where the key does not tell", press("Tab", { shiftKey: true }), "Shift+Tab"],
    ["Ctrl and Shift", press("Z", { ctrlKey: true, shiftKey: true }), "Ctrl+Shift+z"],
    ["Command counts as Ctrl", press("c", { metaKey: true }), "Ctrl+c"],
    ["the space bar", press(" ", { shiftKey: true }), "Shift+ "],
    ["Alt is the browser's", press("1", { altKey: true }), ""],
    ["what is being composed is no key", press("a", { isComposing: true }), ""],
  ];
  for (const [what, event, name] of EXAMPLES) test(what, () => assert.equal(keyName(event), name));

  test("its place stands in where its sign means nothing", () => {
    assert.equal(keyPlace(press("ě", { code: "Digit2" })), "2"); // Czech
    assert.equal(keyPlace(press("2", { code: "Digit2", shiftKey: true })), "");
    assert.equal(keyPlace(press("=", { code: "Minus" })), "-"); // Czech
    assert.equal(keyPlace(press("ß", { code: "Minus" })), "-"); // German
    assert.equal(keyPlace(press("?", { code: "Minus", shiftKey: true })), "");
    assert.equal(keyPlace(press("ν", { code: "KeyN" })), "n"); // Greek
    assert.equal(keyPlace(press("z", { code: "KeyY" })), "");
    assert.equal(keyPlace(press("€", { code: "KeyE", held: ["AltGraph"] })), "");
    assert.equal(keyPlace(press("Tab", { code: "Tab" })), "");
  });

  test("with Alt it is a command where a letter alone is text", () => {
    const likeliest = (...event) => keysWithAlt(press(...event)).filter(Boolean);
    assert.deepEqual(likeliest("s", { code: "KeyS" }), ["s"]);
    assert.deepEqual(likeliest("C", { code: "KeyC", shiftKey: true }), ["C", "c"]);
    assert.deepEqual(likeliest("ß", { code: "KeyS" }), ["ß", "s"]); // a Mac
    assert.deepEqual(likeliest("?", { code: "Slash", shiftKey: true }), ["?", "?"]);
    assert.deepEqual(likeliest("ArrowDown", { code: "ArrowDown" }), []);
  });
});

describe("what the filters of the lens show", () => {
  const cell = (flags, more = {}) => ({
    question: "1",
    flags: new Set(flags),
    off: false,
    row: { facets: { engine: "Bing" }, raters: [0, 2] },
    ...more,
  });
  const all = { kind: "", judge: "", rater: "", question: "", facets: {}, undecided: false };

  test("without a filter all that is asked is shown, and the keys lead to differences", () => {
    assert.equal(isShown(cell([]), all), true);
    assert.equal(isShown(cell([], { off: true }), all), false);
    assert.deepEqual([[], ["people"], ["judge-1"], ["notes"]].map((flags) => isTarget(cell(flags), all)), [false, true, true, false]); // biome-ignore format: in pairs
  });

  test("a kind, a judge, a question", () => {
    assert.equal(isTarget(cell(["notes"]), { ...all, kind: "notes" }), true);
    assert.equal(isShown(cell(["judge-1"]), { ...all, kind: "judge" }), true);
    assert.equal(isShown(cell(["judge-1"]), { ...all, kind: "judge", judge: "0" }), false);
    assert.equal(isTarget(cell(["judge-1"]), { ...all, judge: "0" }), false);
    assert.equal(isAsked(cell([]), { ...all, question: "2" }), false);
    assert.equal(isAsked(cell(["decided"]), { ...all, undecided: true }), false);
  });

  test("the facets of a row, and a rater: the rows that they have, and their own warnings and drafts", () => {
    assert.equal(isShown(cell([]), { ...all, facets: { engine: "Bing" } }), true);
    assert.equal(isShown(cell([]), { ...all, facets: { engine: "Google" } }), false);
    assert.equal(isShown(cell([]), { ...all, facets: { engine: "Bing", rank: "1" } }), false);
    assert.equal(isShown(cell([]), { ...all, facets: { rank: NO_WORD } }), true);
    const warned = cell(["people", "warned", "warned-2"]);
    assert.deepEqual(["", "0", "1", "2"].map((rater) => isShown(warned, { ...all, kind: "warned", rater })), [true, false, false, true]); // biome-ignore format: in pairs
    assert.deepEqual(["", "0", "1", "2"].map((rater) => isShown(warned, { ...all, kind: "people", rater })), [true, true, false, true]); // biome-ignore format: in pairs
  });
});

test("a sentence is filled with words as they are", () => {
  assert.equal(fill("“{row}” has {n}", { row: "$& $1 {n}", n: 3 }), "“$& $1 {n}” has 3");
  assert.equal(fill("{n} of {all}", { n: 0 }), "0 of {all}");
});

test("keys go through the words of a text", () => {
  const texts = ["Chop the leek.", "Fry 😀 it, then eat."];
  /** @param {import("../../static/palate/core/places.js").Place[]} from @param {[1 | -1, boolean][]} steps */
  const after = (from, ...steps) =>
    wordsAt(
      texts,
      steps.reduce((places, [step, isEnd]) => steppedPlaces(texts, places, step, isEnd), from),
    );
  assert.equal(after([], [1, false]), "Chop");
  assert.equal(after([], [1, false], [1, true], [1, true]), "Chop the leek");
  assert.equal(after([], [1, false], [1, true], [1, true], [1, true]), "Chop the leek"); // the block ends there
  assert.equal(after([], [1, false], [1, true], [-1, true], [-1, true]), "Chop");
  assert.equal(after([{ block: 0, start: 5, end: 13 }], [1, false], [1, false]), "it");
  assert.equal(after([{ block: 1, start: 0, end: 3 }], [-1, false]), "leek");
  const behind = { block: 1, start: 0, end: 3 };
  assert.equal(wordsAt(texts, steppedPlaces(texts, [], 1, false, behind)), "it");
});
