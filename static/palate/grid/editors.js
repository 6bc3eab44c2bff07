// What is needed where answers are typed or put together, and nowhere else: their editors, and names that travel down.

import { browserStore } from "../page/store.js";
import { Composing } from "./composing.js";
import { RecordsEditor } from "./records.js";
import { Renaming } from "./renaming.js";
import { TransitionsEditor } from "./transitions.js";
import { Typing } from "./typing.js";

/** @typedef {import("./later.js").Desk} Desk */

/**
 * What an earlier visit left half done is put before its person again.
 * @param {Desk} desk
 * @param {{store: string, beginnings: Record<string, Record<string, string[]>>, beside: HTMLElement}} own store: of the names in
 *   the browser's store; beside: the place beside the tables for a long text
 */
export function startEditors(desk, { store, beginnings, beside }) {
  const { tables, cells, focus, range, editing, choosing, keys, words, refuse, panel } = desk;
  const kept = browserStore;
  const name = `palate:composing:${store}`;
  const composing = new Composing({ tables, cells, focus, editing, words, refuse, store: kept, name });
  composing.editors.set("items", new RecordsEditor({ composing, cells, words, panel }));
  const transitions = new TransitionsEditor({ composing, cells, words, beginnings });
  composing.editors.set("transitions", transitions);
  if (document.getElementById("renaming"))
    new Renaming({ cells, editing, focus, keys, words, thereAt: (cell) => transitions.thereAt(cell) });
  const typing = new Typing({
    tables,
    cells,
    focus,
    range,
    editing,
    composing,
    choosing,
    keys,
    words,
    refuse,
    store: kept,
    name: `palate:typing:${store}`,
    panel: beside,
  });
  composing.write = typing.write.bind(typing);
  typing.start();
  if (!typing.cell) composing.start();
  if (document.activeElement === focus.cell.td) typing.suggest(focus.cell, true);
}
