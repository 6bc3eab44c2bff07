// What exists at a step of a table, and the transitions of a step while somebody picks them.

import { beginsWord, searched } from "./finding.js";
import { swapped, withoutItem } from "./lists.js";
import { fill } from "./sentences.js";
import { after, checkedTransitions, folded, isStaying, readMade, tidy, writtenMade } from "./values.js";

/** @typedef {import("./sentences.js").Sentences} Sentences */
/** @typedef {import("./values.js").Read} Read */
/** @typedef {import("./values.js").Transition} Transition */
/** @typedef {import("./values.js").ValueQuestion} ValueQuestion */
/**
 * @typedef {object} StepDraft
 * @property {Transition[]} done
 * @property {string[]} picked what the next transition uses
 * @property {string[]} staying those of them of which a part stays as it was
 * @property {string} to what they become, as it is typed
 * @property {boolean} nothing that nothing changes is the answer
 */
/**
 * @typedef {object} Thing
 * @property {string} name
 * @property {"" | "picked" | "part"} state of the transition that is being made
 * @property {boolean} used a transition of this step uses it up
 */

/**
 * @param {string[]} names
 * @param {string} name
 */
const has = (names, name) => names.some((one) => folded(one) === folded(name));

/**
 * What there is before a step: what was there at the beginning, and what the steps above have made of it.
 * @param {string[]} start
 * @param {Transition[][]} above the answers of the steps above, the first one first
 */
export const thereBefore = (start, above) => above.reduce(after, start);

/**
 * The things that a facet names: see annotation/answers/transitions.py.
 * @param {string | string[]} facet
 */
export const namesIn = (facet) =>
  (Array.isArray(facet) ? facet : facet.split(facet.includes(";") ? ";" : ","))
    .map((name) => tidy(name))
    .filter(Boolean);

/** @typedef {{rule: "exists" | "sourced" | "distinct" | "reached", step: number, name: string}} StateFault `step`: counted from 0 */

/**
 * What cannot be: see annotation/answers/states.py, which has the last word.
 * @param {string[]} start
 * @param {(Transition[] | undefined)[]} answers of each step; undefined for none
 * @returns {StateFault[]}
 */
export function faultsOf(start, answers) {
  /** @type {StateFault[]} */
  const faults = [];
  const used = new Set();
  let alive = new Set();
  for (const name of start) {
    if (alive.has(folded(name))) faults.push({ rule: "distinct", step: 0, name });
    alive.add(folded(name));
  }
  answers.forEach((answer, step) => {
    if (!answer) return;
    const before = alive;
    const stays = answer.flatMap(({ from, to }) => (from.length === 1 && has(to, from[0]) ? [folded(from[0])] : []));
    const kept = new Set(stays);
    /** @type {Set<string>} */
    const made = new Set();
    /** @type {Set<string>} */
    const waste = new Set();
    const gone = new Set(answer.flatMap(({ from }) => from.map(folded)).filter((name) => !kept.has(name)));
    alive = new Set([...before].filter((name) => !gone.has(name)));
    /** @param {Transition} one */
    const madeBy = ({ from, to }) => to.filter((name) => !(from.length === 1 && folded(from[0]) === folded(name)));
    for (const one of answer)
      for (const name of madeBy(one)) {
        if (!one.from.length) faults.push({ rule: "sourced", step, name });
        if (!made.has(folded(name)) && alive.has(folded(name))) faults.push({ rule: "distinct", step, name });
        made.add(folded(name));
      }
    for (const one of answer)
      for (const name of one.from)
        if (before.has(folded(name))) {
          if (madeBy(one).length || !one.to.length) used.add(folded(name));
        } else if (!one.to.length && made.has(folded(name))) waste.add(folded(name));
        else faults.push({ rule: "exists", step, name });
    for (const name of made) if (!waste.has(name)) alive.add(name);
  });
  const last = answers.length - 1;
  if (last >= 0 && answers.every(Boolean))
    for (const name of start) if (!used.has(folded(name))) faults.push({ rule: "reached", step: last, name });
  return faults;
}

/** @returns {StepDraft} */
export const emptyStep = () => ({ done: [], picked: [], staying: [], to: "", nothing: false });

/**
 * @param {Transition[] | undefined} answer undefined where there is none
 * @returns {StepDraft}
 */
export const draftOfStep = (answer) => ({ ...emptyStep(), done: answer ?? [], nothing: answer?.length === 0 });

/** @param {StepDraft} draft */
export const isHalfMade = ({ picked, to }) => picked.length > 0 || to.trim() !== "";

/**
 * What there is before the step, and what becomes of it.
 * @param {string[]} there
 * @param {StepDraft} draft
 * @returns {Thing[]}
 */
export function thingsIn(there, { done, picked, staying }) {
  const left = after(there, done);
  return there.map((name) => ({
    name,
    state: has(staying, name) ? "part" : has(picked, name) ? "picked" : "",
    used: done.some(({ from }) => has(from, name)) && !has(left, name),
  }));
}

/**
 * Things whose name begins with what is typed, then those with a word that does, then those in which it stands.
 * @param {Thing[]} things
 * @param {string} typed
 */
export function thingsNamed(things, typed) {
  const wanted = searched(typed);
  /** @param {Thing} thing */
  const worth = ({ name }) => {
    const text = searched(name);
    return text.startsWith(wanted) ? 0 : beginsWord(text, wanted) ? 1 : text.includes(wanted) ? 2 : 3;
  };
  return [0, 1, 2].flatMap((rank) => things.filter((thing) => worth(thing) === rank));
}

/**
 * Pick a thing; picked once more, a part of it stays; and then it is let go.
 * @param {StepDraft} draft
 * @param {string} name
 * @returns {StepDraft}
 */
export function pickedIn(draft, name) {
  /** @param {string[]} names */
  const others = (names) => names.filter((one) => folded(one) !== folded(name));
  const { picked, staying } = draft;
  if (!has(picked, name)) return { ...draft, nothing: false, picked: [...picked, name] };
  if (!has(staying, name)) return { ...draft, staying: [...staying, name] };
  return { ...draft, picked: others(picked), staying: others(staying) };
}

/**
 * The transition that is being made joins the others. `isGone`: what is picked is thrown away.
 * @param {ValueQuestion} question
 * @param {StepDraft} draft
 * @param {Sentences} words
 * @returns {{draft: StepDraft} | {refused: string}}
 */
export function concluded(question, draft, words, isGone = false) {
  const { done, picked, staying } = draft;
  const { to, waste } = readMade(isGone ? "" : draft.to.replace(/[、，]/g, ","));
  if (!to.length && !isGone) return { refused: fill(words.becomesNothing, { things: picked.join(", ") }) };
  if (!to.length && !picked.length) return { refused: words.pickFirst };
  const alone = picked.length === 1 && staying.length === 1 && to.length > 0;
  const changes = alone
    ? [{ from: picked, to: [...to.filter((name) => !has(staying, name)), ...staying] }]
    : [...splitFor(picked, to), ...staying.map((name) => ({ from: [name], to: [name] }))];
  changes.push(...waste.map((name) => ({ from: [name], to: [] })));
  const read = checkedTransitions(question, [...done, ...changes], words);
  if ("refused" in read) return read;
  return { draft: { ...emptyStep(), done: [...done, ...changes] } };
}

/**
 * Several things of several have a transition for each that is made.
 * @param {string[]} from
 * @param {string[]} to
 * @returns {Transition[]}
 */
const splitFor = (from, to) =>
  from.length > 1 && to.length > 1 ? to.map((name) => ({ from, to: [name] })) : [{ from, to }];

/**
 * A transition is made anew: what it says is picked and typed again.
 * @param {StepDraft} draft
 * @param {number} n its place
 * @returns {StepDraft}
 */
export function reopened({ done }, n) {
  const { from, to } = done[n];
  const staying = from.length === 1 && to.length > 1 && has(to, from[0]) ? from : [];
  const made = staying.length ? to.filter((name) => !has(staying, name)) : to;
  return { ...emptyStep(), done: withoutItem(done, n), picked: from, staying, to: writtenMade(made) };
}

/**
 * @param {StepDraft} draft
 * @param {number} n
 * @returns {StepDraft}
 */
export const dropped = (draft, n) => ({ ...draft, done: withoutItem(draft.done, n) });

/**
 * A transition in the place of its neighbour.
 * @param {StepDraft} draft
 * @param {number} n
 * @param {1 | -1} step
 * @returns {StepDraft}
 */
export const movedBy = (draft, n, step) => ({ ...draft, done: swapped(draft.done, n, step) });

/**
 * The answer: null where nothing is said. What is half made is none.
 * @param {ValueQuestion} question
 * @param {StepDraft} draft
 * @param {Sentences} words
 * @returns {Read | null}
 */
export function readStep(question, draft, words) {
  if (isHalfMade(draft)) {
    const made = draft.to.trim() ? concluded(question, draft, words) : null;
    if (made && "refused" in made) return made;
    if (!made) return { refused: fill(words.becomesNothing, { things: draft.picked.join(", ") }) };
    return checkedTransitions(question, made.draft.done, words);
  }
  if (!draft.done.length) return draft.nothing ? { value: [] } : null;
  return checkedTransitions(question, draft.done, words);
}

/**
 * What transitions use though it is not there.
 * @param {string[]} there
 * @param {Transition} one
 */
export const missingIn = (there, { from }) => from.filter((name) => !has(there, name));

// --- names that travel down -------------------------------------------------------------------------------------------

/** @typedef {[before: string, now: string]} Rename */

/**
 * What transitions make, without what stays as it was.
 * @param {Transition[]} answer
 */
const madeIn = (answer) => answer.flatMap((one) => (isStaying(one) ? [] : newIn(one)));

/** @param {Transition} one */
const newIn = ({ from, to }) => to.filter((name) => !(from.length === 1 && folded(from[0]) === folded(name)));

/**
 * The names that a changed answer gives to what the answer before made already: what one transition made under other names, as
 * many of them, of the same things; or the only name that is gone, and the only new one.
 * @param {Transition[]} before
 * @param {Transition[]} now
 * @returns {Rename[]}
 */
export function renamesIn(before, now) {
  const [old, made] = [madeIn(before), madeIn(now)];
  const lost = old.filter((name) => !has(made, name));
  const gained = made.filter((name) => !has(old, name));
  if (lost.length === 1 && gained.length === 1) return [[lost[0], gained[0]]];
  /** @param {Transition} one */
  const of = ({ from }) => from.map(folded).sort().join("\n");
  return before.flatMap((one) => {
    const [gone, others] = [lost.filter((name) => has(one.to, name)), now.filter((other) => of(other) === of(one))];
    const came = gained.filter((name) => others.some(({ to }) => has(to, name)));
    return gone.length === came.length ? gone.map((name, n) => /** @type {Rename} */ ([name, came[n]])) : [];
  });
}

/**
 * Renames that were not carried down yet, and those that came after them: what got two names one after the other has the last.
 * @param {Rename[]} earlier
 * @param {Rename[]} later
 * @returns {Rename[]}
 */
export function renamedAgain(earlier, later) {
  /** @param {Rename} rename */
  const last = ([old, now]) =>
    /** @type {Rename} */ ([old, later.find(([of]) => folded(of) === folded(now))?.[1] ?? now]);
  const others = later.filter(([old]) => !earlier.some(([, now]) => folded(now) === folded(old)));
  return [...earlier.map(last), ...others].filter(([old, now]) => folded(old) !== folded(now));
}

/**
 * The answers of the steps below with the new names: up to the step that makes a thing of the old name anew.
 * @param {Rename[]} renames
 * @param {(Transition[] | undefined)[]} below
 * @returns {(Transition[] | undefined)[]} undefined where a step stays as it is
 */
export function renamedBelow(renames, below) {
  let left = renames;
  return below.map((answer) => {
    if (!answer) return undefined;
    const made = answer.flatMap(newIn);
    /** @param {string} name */
    const renamed = (name) => left.find(([old]) => folded(old) === folded(name))?.[1] ?? name;
    const told = answer.map((one) => {
      // What is made and thrown away in one step is no earlier thing.
      if (!one.to.length && one.from.every((name) => has(made, name))) return one;
      const stays = one.from.length === 1 && has(one.to, one.from[0]);
      const to = stays ? one.to.map((name) => (folded(name) === folded(one.from[0]) ? renamed(name) : name)) : one.to;
      return { from: one.from.map(renamed), to };
    });
    left = left.filter(([old]) => !has(made, old));
    return JSON.stringify(told) === JSON.stringify(answer) ? undefined : told;
  });
}
