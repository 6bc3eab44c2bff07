// Tab-separated text, as spreadsheets put it on the clipboard and take it from there.

/**
 * A cell in quotation marks may hold line ends, and quotation marks twice.
 * @param {string} text
 * @returns {string[][]} lines of words; none for an empty text
 */
export function readTabs(text) {
  /** @type {string[][]} */
  const rows = [[]];
  const pattern = /(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r\n|\r|\n|$)/y;
  while (pattern.lastIndex < text.length) {
    const start = pattern.lastIndex;
    let [, quoted, word, end] = pattern.exec(text) ?? [];
    if (end === undefined) {
      // A quotation mark that belongs to a word.
      const plain = /([^\t\r\n]*)(\t|\r\n|\r|\n|$)/.exec(text.slice(start)) ?? ["", "", ""];
      pattern.lastIndex = start + plain[0].length;
      [, word, end] = plain;
    }
    const row = rows[rows.length - 1];
    row.push(quoted === undefined ? word : quoted.replaceAll('""', '"'));
    if (end === "\t" && pattern.lastIndex === text.length) row.push("");
    else if (end && end !== "\t" && pattern.lastIndex < text.length) rows.push([]);
  }
  return rows[0].length ? rows : [];
}

/**
 * What has tabs or line ends in it stands in quotation marks.
 * @param {string[][]} rows
 */
export const writeTabs = (rows) => rows.map((row) => row.map(quotedWord).join("\t")).join("\n");

/** @param {string} word */
const quotedWord = (word) => (/[\t\r\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word);
