// The names of keys. They are as KeyboardEvent.key says them, with "Ctrl+" and "Shift+" before them in this order; Shift is
// named only where the key itself does not tell. On a Mac, Command counts as Ctrl.

/** @typedef {Pick<KeyboardEvent, "key" | "code" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey" | "isComposing" | "getModifierState">} Press */

/**
 * @param {Press} event
 * @param {string} [key] another than the event's own
 */
export function keyName(event, key = event.key) {
  if (event.altKey || event.isComposing || !key) return "";
  const ctrl = event.ctrlKey || event.metaKey;
  const letter = key.length === 1 && key !== " ";
  const small = letter && (ctrl || event.getModifierState("CapsLock"));
  return `${ctrl ? "Ctrl+" : ""}${event.shiftKey && (ctrl || !letter) ? "Shift+" : ""}${small ? key.toLowerCase() : key}`;
}

/**
 * The keys that one with Alt may stand for, the likeliest first: a Mac makes other signs with Alt, and a capital letter that
 * means nothing is a small one.
 * @param {Press} event
 */
export function keysWithAlt(event) {
  const sign = [...event.key].length === 1 ? event.key.toLowerCase() : "";
  const small = [sign, keyPlace(event)];
  return event.shiftKey ? [...small.map((key) => key.toUpperCase()), ...small] : small;
}

/**
 * What the key's place on the keyboard means where its sign means nothing here: a digit that needs Shift on Czech and French
 * keyboards, the key right of the digits, a letter in Greek or Cyrillic.
 * @param {Press} event
 */
export function keyPlace(event) {
  const [, digit, letter] = /^(?:Digit(\d)|Key([A-Z]))$/.exec(event.code) || [];
  if (event.getModifierState("AltGraph")) return "";
  if (letter) return event.key > "\x7f" ? letter.toLowerCase() : "";
  if (event.shiftKey) return "";
  return event.code === "Minus" ? "-" : (digit ?? "");
}
