import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isStaying, readValue } from "../../static/palate/core/values.js";
import {
  concluded,
  draftOfStep,
  dropped,
  emptyStep,
  missingIn,
  movedBy,
  pickedIn,
  readStep,
  renamedAgain,
  renamedBelow,
  renamesIn,
  reopened,
  thereBefore,
  thingsIn,
  thingsNamed,
} from "../../static/palate/core/world.js";

const { words: sentences, questions } = JSON.parse(
  readFileSync(new URL("../rules/values.json", import.meta.url), "utf8"),
);
const words = { ...sentences, becomesNothing: "What becomes of {things}?", pickFirst: "Pick first." };
const change = questions.change.script; // three transitions at most, texts of 20 characters
const THERE = ["flour", "cold water", "egg", "salt"];

/** @param {object} draft @param {string[]} names @param {string} to */
function make(draft, names, to) {
  const made = concluded(change, { ...names.reduce(pickedIn, draft), to }, words);
  assert.ok("draft" in made, made.refused);
  return made.draft;
}

test("an ingredient may be longer than the name of what is made of it", () => {
  const long = `2 tbsp chili crisp (${"use more, ".repeat(9)}if oil-free)`;
  const draft = make(emptyStep(), [long], "sauce");
  assert.deepEqual(readStep(change, draft, words), { value: [{ from: [long], to: ["sauce"] }] });
  const refused = concluded(change, { ...pickedIn(draft, "flour"), to: "x".repeat(21) }, words);
  assert.match(refused.refused, /at most 20 characters; these are 21/);
});

test("what is there before a step is what the steps above have left and made", () => {
  const above = [[{ from: ["Flour", "cold water"], to: ["dough"] }], [], [{ from: ["egg"], to: ["yolk", "white"] }]];
  assert.deepEqual(thereBefore(THERE, above), ["salt", "dough", "yolk", "white"]);
  assert.deepEqual(thereBefore(THERE, []), THERE);
});

test("one, several, and several of one: each is a transition", () => {
  let draft = make(emptyStep(), ["flour", "cold water"], "dough");
  draft = make(draft, ["egg"], "yolk, white");
  const gone = concluded(change, pickedIn(draft, "salt"), words, true);
  assert.deepEqual(readStep(change, gone.draft, words), {
    value: [
      { from: ["flour", "cold water"], to: ["dough"] },
      { from: ["egg"], to: ["yolk", "white"] },
      { from: ["salt"], to: [] },
    ],
  });
  assert.deepEqual(
    thingsIn(THERE, draft).map(({ used }) => used),
    [true, true, true, false],
  );
});

test("a thing that is picked again stays in part, and is let go after that", () => {
  const twice = pickedIn(pickedIn(emptyStep(), "flour"), "flour");
  assert.deepEqual(
    thingsIn(THERE, twice).map(({ state }) => state),
    ["part", "", "", ""],
  );
  assert.deepEqual(pickedIn(twice, "flour"), emptyStep());
  const alone = make(emptyStep(), ["flour", "flour"], "dough");
  assert.deepEqual(alone.done, [{ from: ["flour"], to: ["dough", "flour"] }]);
  const both = make(emptyStep(), ["flour", "flour", "egg"], "dough");
  assert.deepEqual(both.done, [
    { from: ["flour", "egg"], to: ["dough"] },
    { from: ["flour"], to: ["flour"] },
  ]);
  assert.ok(isStaying(both.done[1]));
  for (const draft of [alone, both]) assert.equal(thingsIn(THERE, draft)[0].used, false);
});

test("a transition is taken up again as it was made", () => {
  const draft = make(make(emptyStep(), ["flour", "flour"], "dough, crumbs"), ["egg"], "white");
  const again = reopened(draft, 0);
  assert.deepEqual([again.picked, again.staying, again.to], [["flour"], ["flour"], "dough, crumbs"]);
  assert.deepEqual(again.done, [{ from: ["egg"], to: ["white"] }]);
  assert.deepEqual(concluded(change, again, words).draft.done, movedBy(draft, 0, 1).done);
  assert.deepEqual(dropped(draft, 0).done, draft.done.slice(1));
  assert.equal(movedBy(draft, 1, 1).done, draft.done);
});

test("what is half made is no answer, and nothing at all is none either", () => {
  assert.equal(readStep(change, emptyStep(), words), null);
  assert.deepEqual(readStep(change, draftOfStep([]), words), { value: [] });
  assert.equal(draftOfStep(undefined).nothing, false);
  assert.equal(readStep(change, pickedIn(emptyStep(), "egg"), words).refused, "What becomes of egg?");
  const typed = { ...pickedIn(emptyStep(), "egg"), to: "white" };
  assert.deepEqual(readStep(change, typed, words), { value: [{ from: ["egg"], to: ["white"] }] });
  assert.equal(concluded(change, emptyStep(), words, true).refused, "Pick first.");
  const several = { ...["egg", "salt"].reduce(pickedIn, emptyStep()), to: "a, b" };
  const each = ["a", "b"].map((name) => ({ from: ["egg", "salt"], to: [name] }));
  assert.deepEqual(readStep(change, several, words), { value: each });
});

test("things are found by their beginning, by a word, by what stands in them", () => {
  const names = (typed) => thingsNamed(thingsIn(THERE, emptyStep()), typed).map(({ name }) => name);
  assert.deepEqual(names("e"), ["egg", "cold water"]);
  assert.deepEqual(names("WA"), ["cold water"]);
  assert.deepEqual(names(""), THERE);
  assert.deepEqual(
    thingsNamed([{ name: "冷たい水", state: "", used: false }], "水").map(({ name }) => name),
    ["冷たい水"],
  );
});

test("a dash before a name throws away what is made, and an ideographic comma separates as well", () => {
  const made = make(emptyStep(), ["egg"], "yolk、-shell");
  assert.deepEqual(made.done, [
    { from: ["egg"], to: ["yolk", "shell"] },
    { from: ["shell"], to: [] },
  ]);
  assert.deepEqual(thereBefore(["egg", "salt"], [made.done]), ["salt", "yolk"]);
});

test("a name that begins with a dash is typed with a backslash before it, and taken up again so", () => {
  const made = make(emptyStep(), ["egg"], "\\-1 egg");
  assert.deepEqual(made.done, [{ from: ["egg"], to: ["-1 egg"] }]);
  const again = reopened(made, 0);
  assert.equal(again.to, "\\-1 egg");
  assert.deepEqual(concluded(change, again, words).draft.done, made.done);
});

test("what is typed with a dash in the picker is the same answer as in the text form", () => {
  const picked = make(emptyStep(), ["egg", "salt"], "brine, -shell").done;
  assert.deepEqual({ value: picked }, readValue(change, "egg, salt -> brine, -shell", words));
});

test("Japanese is found without spaces between its words, in either syllabary and any width", () => {
  const things = ["溶かしたバター", "切った玉ねぎ", "Ｔ骨"].map((name) => ({ name, state: "", used: false }));
  const names = (typed) => thingsNamed(things, typed).map(({ name }) => name);
  assert.deepEqual(names("ばた"), ["溶かしたバター"]);
  assert.deepEqual(names("玉"), ["切った玉ねぎ"]);
  assert.deepEqual(names("t"), ["Ｔ骨"]);
});

test("what a step above does not make any more is missing", () => {
  assert.deepEqual(missingIn(["Dough"], { from: ["dough", "butter"], to: ["bread"] }), ["butter"]);
});

test("what is made of the same things under another name is a rename", () => {
  const before = [
    { from: ["flour", "sugar"], to: ["sweet flour"] },
    { from: ["egg"], to: ["yolk", "white"] },
  ];
  /** @param {import("../../static/palate/core/values.js").Transition[]} now */
  const renames = (...now) => renamesIn(before, now);
  assert.deepEqual(renames({ from: ["sugar", "flour"], to: ["flour mixture"] }, before[1]), [
    ["sweet flour", "flour mixture"],
  ]);
  assert.deepEqual(renames(before[0], { from: ["egg"], to: ["the yolk", "the white"] }), [
    ["yolk", "the yolk"],
    ["white", "the white"],
  ]);
  assert.deepEqual(renames({ from: ["flour", "sugar"], to: ["Sweet Flour"] }, before[1]), []);
  assert.deepEqual(renames(before[0], { from: ["egg"], to: ["beaten egg"] }), []); // one of two things is no name of either
  assert.deepEqual(renames(before[1]), []); // what is not made any more has no new name
});

test("a new name goes down to the step that makes a thing of the old one anew", () => {
  const below = [
    [
      { from: ["Dough"], to: ["Dough"] },
      { from: ["dough", "oil"], to: ["loaf"] },
    ],
    undefined,
    [{ from: ["water"], to: ["tea"] }],
    [{ from: ["dough", "flour"], to: ["dough"] }],
    [{ from: ["dough"], to: ["bread"] }],
  ];
  assert.deepEqual(renamedBelow([["dough", "sponge"]], below), [
    [
      { from: ["sponge"], to: ["sponge"] },
      { from: ["sponge", "oil"], to: ["loaf"] },
    ],
    undefined,
    undefined,
    [{ from: ["sponge", "flour"], to: ["dough"] }],
    undefined,
  ]);
  const peeled = [
    [
      { from: ["potato"], to: ["peeled potato", "peel"] },
      { from: ["peel"], to: [] },
    ],
  ];
  assert.deepEqual(renamedBelow([["peel", "zest"]], peeled), [undefined]); // made and thrown away in one step
});

test("a thing that is renamed twice has its last name, and none where that is the first one", () => {
  assert.deepEqual(renamedAgain([["dough", "sponge"]], [["sponge", "starter"]]), [["dough", "starter"]]);
  assert.deepEqual(renamedAgain([["dough", "sponge"]], [["sponge", "Dough"]]), []);
  assert.deepEqual(renamedAgain([["dough", "sponge"]], [["glaze", "icing"]]), [
    ["dough", "sponge"],
    ["glaze", "icing"],
  ]);
});
