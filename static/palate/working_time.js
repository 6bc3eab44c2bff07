// Active time by document: counted while the page is seen and its reader did something in the last minute. The page sends
// all that it has counted so far, so a beat that is lost, late or sent twice does no harm; see annotation/actions/time.py.
class WorkingTime {
  constructor({ focus, cells, config, words, shown, before }) {
    Object.assign(this, { focus, cells, config, words, shown });
    this.before = before; // assignment -> seconds before the page was opened
    this.page = newKey();
    this.counted = new Map(); // assignment -> milliseconds
    this.sent = -1;
    this.active = this.last = performance.now();
    for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"])
      window.addEventListener(kind, () => (this.active = performance.now()), { capture: true, passive: true });
    setInterval(() => this.tick(), 1000);
    setInterval(() => this.beat(), WorkingTime.BEAT);
    window.addEventListener("pagehide", () => this.beat());
    window.addEventListener("blur", () => this.beat());
    document.addEventListener("visibilitychange", () => {
      this.tick();
      this.beat();
    });
    this.say();
    setTimeout(() => this.beat()); // the server hears of the page when it opens
  }

  static IDLE = 60_000;
  static BEAT = 30_000;

  tick() {
    const now = performance.now();
    // A timer that comes late, after a sleep of the machine, counts as one that comes in time.
    const passed = Math.min(now - this.last, 2000);
    this.last = now;
    if (document.visibilityState === "hidden" || now - this.active > WorkingTime.IDLE || !this.focus.cell) return;
    const { assignment } = this.focus.cell;
    this.counted.set(assignment, (this.counted.get(assignment) || 0) + passed);
    this.say();
  }

  get seconds() {
    return Math.floor(sum([...this.counted.values()]) / 1000);
  }

  beat() {
    const { seconds } = this;
    if (seconds === this.sent || !this.focus.cell) return;
    this.sent = seconds;
    const counted = { [this.focus.cell.assignment]: 0 };
    for (const [assignment, ms] of this.counted) counted[assignment] = Math.floor(ms / 1000);
    const body = new FormData();
    body.set("csrfmiddlewaretoken", document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] || "");
    body.set("page", this.page);
    body.set("seconds", JSON.stringify(counted));
    navigator.sendBeacon(this.config.beat, body);
  }

  // The time on the whole sheet; that on the focused document where the pointer asks for it.
  say() {
    const all = this.inWords(sum(Object.values(this.before)) + this.seconds);
    if (this.shown.textContent !== all) this.shown.textContent = all;
    if (!this.focus.cell) return;
    const { assignment } = this.focus.cell;
    const one = this.inWords(this.before[assignment] + (this.counted.get(assignment) || 0) / 1000);
    const title = this.words.timeTitle.replace("{row}", this.cells.names.get(assignment)).replace("{one}", one).replace("{all}", all);
    if (this.shown.title !== title) this.shown.title = title;
  }

  inWords(seconds) {
    const minutes = Math.round(seconds / 60);
    const sentence = !minutes ? this.words.underAMinute : minutes < 60 ? this.words.minutes : this.words.hours;
    return sentence.replace("{h}", Math.floor(minutes / 60)).replace("{min}", minutes % 60);
  }
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
