import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AnswerWords, optionNamed } from "../../static/palate/core/answers.js";
import { readTabs, writeTabs } from "../../static/palate/core/tabs.js";

const OPTIONS = [
  { key: "found", label: "Found", sign: "F", hotkey: "1", colour: "green" },
  { key: "other-words", label: "Jiná slova", sign: "J", hotkey: "2", colour: "blue" },
];

describe("tab-separated text", () => {
  const EXAMPLES = [
    { what: "nothing", text: "", rows: [] },
    { what: "a word", text: "a", rows: [["a"]] },
    { what: "a block", text: "a\tb\nc\td", rows: [["a", "b"], ["c", "d"]] }, // biome-ignore format: a block
    { what: "the line ends of Windows and of old Macs", text: "a\r\nb\rc", rows: [["a"], ["b"], ["c"]] },
    { what: "a last line end ends nothing new", text: "a\nb\n", rows: [["a"], ["b"]] },
    { what: "empty words", text: "\ta\t", rows: [["", "a", ""]] },
    { what: "an empty line", text: "a\n\nb", rows: [["a"], [""], ["b"]] },
    { what: "what is quoted", text: '"a\nb"\t"say ""no"""', rows: [["a\nb", 'say "no"']] },
    { what: "a quotation mark that belongs to a word", text: '"a" b\tc', rows: [['"a" b', "c"]] },
    { what: "a quotation mark that is never closed", text: '"a\tb', rows: [['"a', "b"]] },
  ];
  for (const { what, text, rows } of EXAMPLES) test(what, () => assert.deepEqual(readTabs(text), rows));

  test("what is written is read again", () => {
    for (const rows of [[["a", "b\tc"]], [["x\ny"], ["z\r\n"]], [["", "a"]], [['a"b']]])
      assert.deepEqual(readTabs(writeTabs(rows)), rows);
  });
});

test("an option is named by label, key or number key, in small or capital letters", () => {
  for (const word of ["found", "FOUND", " Found ", "1"]) assert.equal(optionNamed(OPTIONS, word)?.key, "found");
  for (const word of ["jiná slova", "JINÁ SLOVA", "Jina\u0301 slova", "other-words", "2"])
    assert.equal(optionNamed(OPTIONS, word)?.key, "other-words");
  for (const word of ["", "3", "foun"]) assert.equal(optionNamed(OPTIONS, word), undefined);
});

test("a label goes before a key of the same word", () => {
  const options = [
    { ...OPTIONS[0], key: "b", label: "A" },
    { ...OPTIONS[1], key: "a", label: "B" },
  ];
  assert.equal(optionNamed(options, "a")?.key, "b");
});

const QUESTION = { kind: "choice", title: "Presence", options: OPTIONS };

describe("answers in words", () => {
  const words = new AnswerWords({ skippedWord: "Cannot tell (why?): {reason}" });

  test("are written and read again", () => {
    for (const code of ["found", "other-words", "!Torn page", "!two\nlines", "! $& ", ""]) {
      const read = words.read(QUESTION, words.write(QUESTION, code));
      assert.equal(read, code === "! $& " ? "!$&" : code);
    }
  });

  test("a preset is written as what it presets", () => assert.equal(words.write(QUESTION, "=found"), "Found"));

  test("what means nothing is told from what clears", () => {
    assert.equal(words.read(QUESTION, "  "), "");
    assert.equal(words.read(QUESTION, "perhaps"), undefined);
    assert.equal(words.read(QUESTION, "Cannot tell (why?): "), undefined);
    assert.equal(words.read(QUESTION, "cannot tell (WHY?):x"), "!x");
  });
});
