// Undo inside of one editor: what a draft was before each change, until the editor is closed.

/** @template Draft */
export class Trail {
  constructor() {
    /** @type {Draft[]} */
    this.before = [];
    /** @type {Draft[]} */
    this.undone = [];
    this.kind = "";
  }

  /**
   * A change is about to be made. Changes of one kind that follow each other, such as letters in one field, are one.
   * @param {Draft} draft as it is now
   * @param {string} [kind] none for a change that stands alone
   */
  keep(draft, kind = "") {
    if (!kind || kind !== this.kind) this.before.push(draft);
    this.kind = kind;
    this.undone = [];
  }

  /**
   * The draft before the last change, or after the one that was taken back; null where there is none.
   * @param {Draft} draft as it is now
   * @param {boolean} back
   * @returns {Draft | null}
   */
  turn(draft, back) {
    const [from, to] = back ? [this.before, this.undone] : [this.undone, this.before];
    const found = from.pop() ?? null;
    if (found !== null) to.push(draft);
    this.kind = "";
    return found;
  }
}
