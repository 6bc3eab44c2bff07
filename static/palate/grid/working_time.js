// Active time by document: counted while the page is seen and its reader did something in the last minute. The page sends
// all that it has counted so far, so a beat that is lost, late or sent twice does no harm; see annotation/actions/time.py.

import { fill } from "../core/sentences.js";
import { newKey } from "../core/uuid.js";
import { csrfToken } from "../page/requests.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./focus.js").Focus} Focus */
/**
 * @typedef {object} Parts
 * @property {Focus} focus
 * @property {Cells} cells
 * @property {DOMStringMap} config
 * @property {Sentences} words
 * @property {HTMLElement} shown
 * @property {Record<string, number>} before assignment -> seconds before the page was opened
 */

const IDLE = 60_000; // ms
const BEAT = 30_000; // ms

export class WorkingTime {
  /** @param {Parts} parts */
  constructor({ focus, cells, config, words, shown, before }) {
    this.focus = focus;
    this.cells = cells;
    this.config = config;
    this.words = words;
    this.shown = shown;
    this.before = before;
    this.page = newKey();
    /** @type {Map<string, number>} */
    this.counted = new Map(); // assignment -> milliseconds
    this.sent = -1;
    this.active = this.last = performance.now();
    for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"])
      window.addEventListener(
        kind,
        () => {
          this.active = performance.now();
        },
        { capture: true, passive: true },
      );
    setInterval(() => this.tick(), 1000);
    setInterval(() => this.beat(), BEAT);
    window.addEventListener("pagehide", () => this.beat());
    window.addEventListener("blur", () => this.beat());
    document.addEventListener("visibilitychange", () => {
      this.tick();
      this.beat();
    });
    this.say();
    setTimeout(() => this.beat()); // the server hears of the page when it opens
  }

  tick() {
    const now = performance.now();
    // A timer that comes late, after a sleep of the machine, counts as one that comes in time.
    const passed = Math.min(now - this.last, 2000);
    this.last = now;
    if (document.visibilityState === "hidden" || now - this.active > IDLE || !this.focus.now) return;
    const { assignment } = this.focus.cell;
    this.counted.set(assignment, (this.counted.get(assignment) || 0) + passed);
    this.say();
  }

  get seconds() {
    return Math.floor(sum([...this.counted.values()]) / 1000);
  }

  beat() {
    const { seconds } = this;
    if (seconds === this.sent || !this.focus.now) return;
    this.sent = seconds;
    const counted = { [this.focus.cell.assignment]: 0 };
    for (const [assignment, ms] of this.counted) counted[assignment] = Math.floor(ms / 1000);
    const body = new FormData();
    body.set("csrfmiddlewaretoken", csrfToken());
    body.set("page", this.page);
    body.set("seconds", JSON.stringify(counted));
    navigator.sendBeacon(this.config.beat ?? "", body);
  }

  // The time on the whole sheet; that on the focused document where the pointer asks for it.
  say() {
    const all = this.inWords(sum(Object.values(this.before)) + this.seconds);
    if (this.shown.textContent !== all) this.shown.textContent = all;
    if (!this.focus.now) return;
    const { assignment } = this.focus.cell;
    const one = this.inWords(this.before[assignment] + (this.counted.get(assignment) || 0) / 1000);
    const title = fill(this.words.timeTitle, { row: this.cells.nameOf(assignment), one, all });
    if (this.shown.title !== title) this.shown.title = title;
  }

  /** @param {number} seconds */
  inWords(seconds) {
    const minutes = Math.round(seconds / 60);
    const sentence = !minutes ? this.words.underAMinute : minutes < 60 ? this.words.minutes : this.words.hours;
    return fill(sentence, { h: Math.floor(minutes / 60), min: minutes % 60 });
  }
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
