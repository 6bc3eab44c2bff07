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
  const button = make(
    "button",
    { type: "button", tabIndex: -1, className },
    kbd,
    " ",
    make("bdi", { textContent: label }),
  );
  button.dataset.choose = key;
  return button;
}

/** @param {Option[]} options */
export const optionButtons = (options) =>
  options.map((o) => choiceButton(o.hotkey, `${o.sign}  ${o.label}`, o.key, `choice t-${o.colour}`));
