import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Steps } from "../../static/palate/core/steps.js";
import { shelf } from "./shelf.js";

const step = (key, ...cells) => ({ key, cells: cells.length ? cells : [["a", "", key]] });
const keysOf = (steps) => steps.map(({ key }) => key);
const later = () => new Promise((done) => setTimeout(done, 1));

// Cells that always fit, but those in `changed`; those in `locked` make a step wait.
const turner = ({ changed = [], locked = [] } = {}) => ({
  fits: ({ cells }) => !cells.some(([id]) => changed.includes(id)),
  lockOf: ({ cells }) => cells.map(([id]) => id).find((id) => locked.includes(id)),
  restore: (one) => (turner({ changed }).fits(one) ? one.cells[0][0] : null),
});

function stepsWith(...made) {
  const store = shelf();
  const steps = new Steps(store, "undo");
  for (const one of made) steps.push(one);
  return { store, steps };
}

test("steps are taken back from the last one on, and done again", () => {
  const { steps } = stepsWith(step("one", ["a", "", "x"]), step("two", ["b", "", "y"]));
  assert.deepEqual(steps.turn(true, turner()), { cell: "b", why: "", lock: "" });
  assert.deepEqual(steps.turn(true, turner()), { cell: "a", why: "", lock: "" });
  assert.equal(steps.turn(true, turner()).why, "nothing");
  assert.equal(steps.turn(false, turner()).cell, "a");
  assert.deepEqual([keysOf(steps.done), keysOf(steps.undone)], [["one"], ["two"]]);
});

test("a new step forgets what was taken back", () => {
  const { steps } = stepsWith(step("one"));
  steps.turn(true, turner());
  steps.push(step("two"));
  assert.equal(steps.turn(false, turner()).why, "nothing");
});

test("a step that changed nothing is none, and the oldest are forgotten", () => {
  const { steps } = stepsWith({ key: "nothing", cells: [] });
  assert.deepEqual(steps.done, []);
  for (let n = 0; n <= Steps.MOST; n++) steps.push(step(`step ${n}`));
  assert.deepEqual([steps.done.length, steps.done[0].key], [Steps.MOST, "step 1"]);
});

test("a step whose cells were changed elsewhere is forgotten", () => {
  const { steps } = stepsWith(step("one", ["a", "", "x"]), step("two", ["b", "", "y"]));
  assert.deepEqual(steps.turn(true, turner({ changed: ["b"] })), { cell: null, why: "gone", lock: "" });
  assert.deepEqual([keysOf(steps.done), steps.undone], [["one"], []]);
});

describe("a step whose document is locked", () => {
  test("waits, and once that was said lets those before it by", () => {
    const { steps } = stepsWith(step("one", ["a", "", "x"]), step("two", ["b", "", "y"]));
    const waiting = turner({ locked: ["b"] });
    assert.deepEqual(steps.turn(true, waiting), { cell: null, why: "waits", lock: "b" });
    assert.deepEqual(keysOf(steps.done), ["one", "two"]);
    assert.equal(steps.turn(true, waiting).cell, "a");
    assert.deepEqual(keysOf(steps.done), ["two"]);
    assert.equal(steps.turn(true, turner()).cell, "b");
  });

  test("keeps those that have a cell of it", () => {
    const { steps } = stepsWith(step("one", ["b", "", "x"]), step("two", ["a", "", "y"], ["b", "x", "y"]));
    const waiting = { ...turner(), lockOf: ({ key }) => (key === "two" ? "b" : undefined) };
    steps.turn(true, waiting);
    assert.equal(steps.turn(true, waiting).why, "waits");
    assert.deepEqual(keysOf(steps.done), ["one", "two"]);
  });
});

test("what the server refused of a step cannot be undone", () => {
  const { steps } = stepsWith(step("one", ["a", "", "x"], ["b", "", "=y"]));
  const holds = { a: "", b: "y" };
  steps.amend("one", (id) => holds[id]);
  assert.deepEqual(steps.done[0].cells, [["b", "", "=y"]]);
  steps.amend("one", () => "");
  assert.deepEqual(steps.done, []);
  steps.amend("unknown", () => "");
});

test("what the server did not take back comes to its place again, where it fits", () => {
  const { steps } = stepsWith(step("one"), step("two"));
  steps.done[1].at = steps.done[0].at + 1;
  steps.turn(true, turner());
  steps.turn(true, turner());
  assert.equal(
    steps.returned("two", () => true),
    true,
  );
  assert.equal(
    steps.returned("one", () => true),
    true,
  );
  assert.deepEqual([keysOf(steps.done), steps.undone], [["one", "two"], []]);
  steps.turn(true, turner());
  assert.equal(
    steps.returned("two", () => false),
    false,
  );
  assert.deepEqual([keysOf(steps.done), steps.undone], [["one"], []]);
});

test("steps outlive the page, and are read anew when another tab has taken one", async () => {
  const { store, steps } = stepsWith(step("one"));
  await later();
  const other = new Steps(store, "undo");
  assert.deepEqual(keysOf(other.done), ["one"]);
  other.turn(true, turner());
  await later();
  steps.read();
  assert.deepEqual([steps.done, keysOf(steps.undone)], [[], ["one"]]);
  store.write("undo", "no JSON");
  steps.read();
  assert.deepEqual(steps.done, []);
});
