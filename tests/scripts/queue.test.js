import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EditQueue } from "../../static/palate/core/queue.js";
import { shelf } from "./shelf.js";

const change = (code, id = "c-1-2-3") => ({ changes: [[id, code, ""]], restore: false, step: null });
const keptIn = (store) => store.names("edits:").map((name) => JSON.parse(store.read(name)).changes[0][1]);
const settle = () => new Promise((done) => setImmediate(done));
/** Until it comes to be, however long the moments are in which the queue waits for more. */
const until = async (holds) => {
  while (!holds()) await settle();
};

// Time that passes only when it is told to, until the test is over.
function stoppedClock(context) {
  const { setTimeout } = globalThis;
  let now = 0;
  let timers = [];
  globalThis.setTimeout = (action, ms) => {
    timers.push({ action, at: now + ms });
    return timers.at(-1);
  };
  context.after(() => {
    globalThis.setTimeout = setTimeout;
  });
  const pass = (ms) => {
    now += ms;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { action } of due) action();
  };
  return { pass };
}

// A queue whose server answers in turn what `outcomes` says, and "done" from then on.
function queueOn(store, ...outcomes) {
  const sent = [];
  const states = [];
  const adopted = [];
  const queue = new EditQueue({
    store,
    name: "edits",
    send: async (edits, arrived) => {
      await null;
      for (const edit of edits) {
        sent.push(edit.changes[0][1]);
        const outcome = outcomes.shift() ?? "done";
        if (outcome === "later") return;
        arrived(edit, outcome);
      }
    },
    changed: (state) => states.push(state),
    adopted: (edits) => adopted.push(...edits.map(({ changes }) => changes[0][1])),
  });
  return { queue, sent, states, adopted };
}

test("edits are sent one after the other and leave the store once they are acknowledged", async () => {
  const store = shelf();
  const { queue, sent, states } = queueOn(store);
  queue.add(change("found"));
  queue.add(change("absent"));
  assert.deepEqual(keptIn(store), ["found", "absent"]);
  await until(() => !queue.busy);
  assert.deepEqual(sent, ["found", "absent"]);
  assert.deepEqual(keptIn(store), []);
  assert.deepEqual([states[0], states.at(-1)], ["saving", "saved"]);
});

test("edits that are made while one is on its way travel together after it, in their order", async () => {
  const travelled = [];
  const arrivals = [];
  const queue = new EditQueue({
    store: shelf(),
    name: "edits",
    send: async (edits, arrived) => {
      travelled.push(edits.map(({ changes }) => changes[0][1]));
      await new Promise((arrive) => arrivals.push(arrive));
      for (const edit of edits) arrived(edit, "done");
    },
    changed: () => {},
    adopted: () => {},
  });
  for (const code of ["a", "b", "c"]) queue.add(change(code));
  arrivals.shift()();
  await until(() => arrivals.length);
  queue.add(change("d"));
  assert.deepEqual(travelled, [["a"], ["b", "c"]]);
  arrivals.shift()();
  await until(() => arrivals.length);
  assert.deepEqual(travelled, [["a"], ["b", "c"], ["d"]]);
  for (let n = 0; n < 120; n += 1) queue.add(change(String(n)));
  arrivals.shift()();
  await until(() => arrivals.length);
  assert.equal(travelled.at(-1).length, EditQueue.TOGETHER);
});

test("who types fast goes on typing after an answer, unless nothing more is to come", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const travelled = [];
  const queue = new EditQueue({
    store: shelf(),
    name: "edits",
    send: async (edits, arrived) => {
      travelled.push(edits.map(({ changes }) => changes[0][1]));
      await null;
      for (const edit of edits) arrived(edit, "done");
    },
    changed: () => {},
    adopted: () => {},
  });
  queue.add(change("a"));
  queue.add(change("b"));
  await settle();
  context.mock.timers.tick(EditQueue.QUIET - 1);
  queue.add(change("c"));
  await settle();
  context.mock.timers.tick(1);
  await settle();
  assert.deepEqual(travelled, [["a"]]);
  context.mock.timers.tick(EditQueue.QUIET);
  await settle();
  assert.deepEqual(travelled, [["a"], ["b", "c"]]);
  for (const code of ["d", "e"]) queue.add(change(code));
  await settle();
  assert.deepEqual(travelled.at(-1), ["d"]);
  queue.flush();
  await settle();
  assert.deepEqual(travelled.at(-1), ["e"]);
});

// A queue whose requests are answered when the test says so: each with what it had, and whether it gets through.
function queueInHand() {
  const store = shelf();
  const requests = [];
  const settled = [];
  const queue = new EditQueue({
    store,
    name: "edits",
    send: async (edits, arrived, turn) => {
      const codes = edits.map(({ changes }) => changes[0][1]);
      const isTaken = await new Promise((answer) => requests.push({ codes, answer }));
      await turn();
      for (const edit of isTaken ? edits : []) arrived(edit, "done");
    },
    changed: (state) => settled.push(state),
    adopted: () => {},
  });
  return { store, queue, requests, settled };
}

describe("what is urgent overtakes the request before it", () => {
  const begun = () => {
    const made = queueInHand();
    for (const code of ["a", "b", "c"]) made.queue.add(change(code));
    made.queue.flush({ overtakes: true });
    assert.deepEqual(
      made.requests.map(({ codes }) => codes),
      [["a"], ["a", "b", "c"]],
    );
    return made;
  };

  test("and takes its edits along", async () => {
    const { queue, requests, store, settled } = begun();
    queue.add(change("d")); // waits for the answer
    requests[1].answer(true);
    await until(() => requests.length === 3);
    assert.deepEqual(requests[2].codes, ["d"]);
    requests[0].answer(true); // it has been overtaken, and says nothing new
    requests[2].answer(true);
    await until(() => !queue.busy);
    assert.deepEqual([keptIn(store), settled.at(-1)], [[], "saved"]);
  });

  test("and is heard first, though it may be answered later, with what came after", async () => {
    const { queue, requests, store } = begun();
    requests[0].answer(true);
    await settle();
    assert.deepEqual(keptIn(store), ["a", "b", "c"]);
    requests[1].answer(true);
    await until(() => !queue.busy);
    assert.deepEqual([requests.length, keptIn(store)], [2, []]);
  });

  test("and is tried again where it does not get through", async (context) => {
    const { pass } = stoppedClock(context);
    const { queue, requests, store } = begun();
    requests[1].answer(false);
    requests[0].answer(true);
    await until(() => !queue.busy);
    assert.deepEqual([keptIn(store), queue.state], [["b", "c"], "retrying"]);
    pass(1000);
    assert.deepEqual(requests[2].codes, ["b", "c"]);
    requests[2].answer(true);
    await until(() => !queue.busy);
    assert.deepEqual(keptIn(store), []);
  });

  test("unless it has no more than that one", async () => {
    const { queue, requests } = queueInHand();
    queue.add(change("a"));
    queue.flush({ overtakes: true });
    assert.equal(requests.length, 1);
    requests[0].answer(true);
    await until(() => !queue.busy);
    assert.equal(requests.length, 1);
  });
});

test("each edit has a key of its own, and is later than the one before", () => {
  const { queue } = queueOn(shelf());
  const keys = [queue.add(change("a")), queue.add(change("b")), queue.add(change("c"))];
  assert.equal(new Set(keys).size, 3);
  assert.match(keys[0], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const times = queue.edits.map(({ at }) => at);
  assert.deepEqual(times, [...new Set(times)].sort());
});

test("what an earlier visit left is sent first", async () => {
  const left = (key, at, code) => ({ [`edits:${key}`]: JSON.stringify({ ...change(code), key, at }) });
  const store = shelf({ ...left("two", 2, "second"), ...left("one", 1, "first"), "other:three": "{}" });
  const { queue, sent } = queueOn(store);
  queue.add(change("third"));
  await settle();
  assert.deepEqual(sent, ["first", "second", "third"]);
  assert.deepEqual([...store.kept.keys()], ["other:three"]);
});

test("entries that cannot be read are left alone", () => {
  const { queue } = queueOn(shelf({ "edits:x": "no JSON" }));
  assert.deepEqual(queue.edits, []);
});

test("and they keep nothing beside them from being sent", async () => {
  const whole = JSON.stringify({ ...change("found"), key: "whole", at: 1 });
  const half = '{"changes": [["c-1';
  const { queue, sent } = queueOn(shelf({ "edits:whole": whole, "edits:half": half, "edits:none": "null" }));
  await queue.run();
  assert.deepEqual(sent, ["found"]);
});

test("a full store loses nothing as long as the page is open", async () => {
  const store = shelf();
  store.full = true;
  const { queue, sent } = queueOn(store);
  queue.add(change("found"));
  await settle();
  assert.deepEqual(sent, ["found"]);
});

describe("while the server does not answer", () => {
  test("it is tried again, later each time, and nothing overtakes", async (context) => {
    const clock = stoppedClock(context);
    const { queue, sent, states } = queueOn(shelf(), "later", "later");
    queue.add(change("found"));
    await settle();
    assert.equal(states.at(-1), "retrying");
    queue.add(change("absent"));
    await settle();
    assert.deepEqual(sent, ["found"]);
    clock.pass(1000);
    await settle();
    assert.deepEqual(sent, ["found", "found"]);
    clock.pass(1999);
    await settle();
    assert.equal(sent.length, 2);
    clock.pass(1);
    await settle();
    assert.deepEqual(sent, ["found", "found", "found", "absent"]);
    assert.equal(states.at(-1), "saved");
  });

  test("who is in a hurry does not wait", async (context) => {
    stoppedClock(context);
    const { queue, sent } = queueOn(shelf(), "later");
    queue.add(change("found"));
    await settle();
    queue.hurry();
    await settle();
    assert.deepEqual(sent, ["found", "found"]);
  });
});

describe("an edit that the server does not take as things stand", () => {
  test("is kept, and lets the others by", async () => {
    const store = shelf();
    const { queue, sent, states } = queueOn(store, "held");
    queue.add(change("found"));
    queue.add(change("absent"));
    await until(() => !queue.busy);
    assert.deepEqual(sent, ["found", "absent"]);
    assert.equal(states.at(-1), "held");
    assert.deepEqual(keptIn(store), ["found"]);
    assert.deepEqual([queue.waiting.length, queue.held.length], [0, 1]);
    queue.release();
    await settle();
    assert.deepEqual(sent, ["found", "absent", "found"]);
    assert.deepEqual(keptIn(store), []);
  });

  test("can be thrown away", async () => {
    const store = shelf();
    const { queue } = queueOn(store, "held");
    queue.add(change("found"));
    await settle();
    queue.discard();
    assert.deepEqual([queue.edits, keptIn(store)], [[], []]);
  });
});

test("what another tab does not get through is taken over once it is old enough", async () => {
  const store = shelf();
  const { queue, sent, adopted } = queueOn(store);
  const theirs = { ...change("theirs"), key: "their-key", at: Date.now() - 1000 };
  store.write("edits:their-key", JSON.stringify(theirs));
  queue.adopt(EditQueue.PATIENCE);
  assert.deepEqual(adopted, []);
  queue.adopt(500);
  await settle();
  assert.deepEqual([adopted, sent], [["theirs"], ["theirs"]]);
  queue.adopt();
  assert.deepEqual(adopted, ["theirs"]);
});
