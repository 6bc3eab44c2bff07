// What a request of ours carries, and what its answer may be other than an answer.

/** How long an answer is waited for, in ms. */
export const PATIENCE = 20_000;

/**
 * The token against forged requests. Read anew each time: a login in another tab changes it. Over HTTPS its name has a
 * prefix; a cookie without it may still be there, of an earlier version or of a neighbouring host.
 */
export const csrfToken = () =>
  (document.cookie.match(/(?:^|; )__Host-csrftoken=([^;]+)/) ??
    document.cookie.match(/(?:^|; )csrftoken=([^;]+)/))?.[1] ?? "";

/**
 * A login page came instead of an answer, or the login is another one than this page was made for.
 * @param {Response} response
 * @param {string} login the address of the login page
 */
export const isLoggedOut = (response, login) =>
  response.status === 403 || (response.redirected && new URL(response.url).pathname === login);

/**
 * Of those, that somebody else has logged in in this browser.
 * @param {Response} response
 */
export const isOfAnother = (response) => response.headers.get("X-Palate-Login") === "another";

/** @param {Response} response */
export const isJson = (response) => response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
