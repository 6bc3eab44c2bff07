// The elements that a template has, each of the class that is expected; what is not there is a mistake of ours and says so.

/**
 * @template {Element} T
 * @param {Element | null} element
 * @param {new () => T} type
 * @param {string} what
 * @returns {T}
 */
function checked(element, type, what) {
  if (!(element instanceof type)) throw new Error(`This page has no ${type.name} ${what}.`);
  return element;
}

/** @param {string} id */
export const byId = (id) => elementOf(id, HTMLElement);

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 */
export const elementOf = (id, type) => checked(document.getElementById(id), type, `#${id}`);

/**
 * The first one inside of another that a selector names.
 * @template {HTMLElement} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} type
 */
export const inside = (root, selector, type) => checked(root.querySelector(selector), type, selector);

/**
 * The data that the server has put into the page.
 * @param {string} id
 */
export const dataOf = (id) => JSON.parse(byId(id).textContent ?? "");

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<Omit<HTMLElementTagNameMap[Tag], "dataset" | "style">>} properties
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/**
 * @param {string} html of our own server
 * @returns {DocumentFragment}
 */
export function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/** A dialog is open, and has the keys. */
export const hasDialog = () => document.querySelector("dialog[open]") !== null;

/** Somebody is writing into a field, from which the keys are not to be taken. */
export const isWriting = () => document.activeElement?.matches("input, textarea") ?? false;

/**
 * The element in which something happened.
 * @param {Event} event
 */
export const placeOf = (event) => /** @type {Element} */ (event.target);
