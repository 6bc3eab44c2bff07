// Where a further question goes in the text of a scheme, which may be half written: behind the last one of its list.

/**
 * `[at, end)` of the text makes way for `put`, of which `[from, to)` is what one writes first.
 * @typedef {{at: number, end: number, put: string, from: number, to: number}} Insertion
 */
/** @typedef {{first: number, last: number, indent: number}} List lines of a list of questions, from its key on; spaces before its items */

const indentOf = (/** @type {string} */ line) => line.length - line.trimStart().length;
const saysNothing = (/** @type {string} */ line) => /^\s*(?:#|$)/u.test(line);

/**
 * @param {string[]} lines
 * @returns {List[]}
 */
export function questionLists(lines) {
  return lines.flatMap((line, first) => {
    const key = /^( *)(- )?questions:\s*(?:#.*)?$/u.exec(line);
    if (!key) return [];
    const own = key[1].length + (key[2]?.length ?? 0);
    const list = { first, last: first, indent: own + 2 };
    for (let n = first + 1; n < lines.length; n++) {
      if (saysNothing(lines[n])) continue;
      const indent = indentOf(lines[n]);
      const isItem = lines[n].startsWith("-", indent);
      if (list.last === first && isItem && indent >= own) list.indent = indent;
      if (indent < list.indent || (indent === list.indent && !isItem)) break;
      list.last = n;
    }
    return [list];
  });
}

/**
 * The keys of a snippet, each with a number behind it where the text has it already.
 * @param {string} text
 * @param {string} snippet
 */
export function withFreeKeys(text, snippet) {
  const taken = new Set([...text.matchAll(/(?:^|[\s{,])key:\s*["']?([\w-]+)/gu)].map(([, key]) => key));
  let free = snippet;
  for (const [, key] of snippet.matchAll(/^- key: ([\w-]+)$/gmu)) {
    let name = key;
    for (let n = 2; taken.has(name); n++) name = `${key}-${n}`;
    free = free
      .replace(new RegExp(`^- key: ${key}$`, "mu"), `- key: ${name}`)
      .replace(`ask_unless: {${key}:`, `ask_unless: {${name}:`);
  }
  return free;
}

/**
 * @param {string} text
 * @param {number} caret
 * @param {string} snippet questions without indentation
 * @param {string} beginning what stands before the first question of a scheme
 * @returns {Insertion}
 */
export function insertion(text, caret, snippet, beginning) {
  const isEmpty = !text.trim();
  const lines = (isEmpty ? beginning.trimEnd() : text).split("\n");
  const line = text.slice(0, caret).split("\n").length - 1;
  const lists = questionLists(lines);
  const list = lists.findLast(({ first, last }) => first <= line && line <= last) ?? lists.at(-1);
  const { last, indent } = list ?? { last: isEmpty ? lines.length - 1 : line, indent: 6 };
  const behind = lines.slice(0, last + 1).join("\n");
  const added = withFreeKeys(text, snippet)
    .trimEnd()
    .split("\n")
    .map((one) => `\n${" ".repeat(indent)}${one}`)
    .join("");
  const put = isEmpty ? `${behind}${added}\n` : added;
  const at = isEmpty ? 0 : behind.length;
  const title = put.indexOf("title: ", isEmpty ? behind.length : 0) + "title: ".length;
  const from = at + title;
  return { at, end: isEmpty ? text.length : at, put, from, to: at + put.indexOf("\n", title) };
}
