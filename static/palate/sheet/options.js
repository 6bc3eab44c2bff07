// The buttons of a question's options, in the line below the tables.

import { make } from "../page/elements.js";

/** @typedef {import("../core/answers.js").Option} Option */

/**
 * @param {string} hotkey
 * @param {string} label
 * @param {string} key of the option that it chooses, "" for none
 * @param {string} className
 */
export function choiceButton(hotkey, label, key, className) {
  const kbd = make("kbd", { textContent: hotkey });
  const named = label ? [" ", make("bdi", { textContent: label })] : [];
  const button = make("button", { type: "button", tabIndex: -1, className }, kbd, ...named);
  button.dataset.choose = key;
  return button;
}

/**
 * Its letter and its label, beside its key; what is the same is said once, as of a step of a scale, with what it means.
 * @param {Option} option
 */
function said({ hotkey, sign, label, meaning = "" }) {
  if (sign !== label) return `${sign}  ${label}`;
  return label === hotkey ? meaning : [label, meaning].filter(Boolean).join("  ");
}

/** @param {Option[]} options */
export const optionButtons = (options) =>
  options.map((o) => choiceButton(o.hotkey, said(o), o.key, `choice t-${o.colour}`));
