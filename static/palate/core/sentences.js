// Sentences come from the server in the language of whoever reads; their gaps are filled here.

/** @typedef {Record<string, string>} Sentences name -> sentence with gaps like "{n}" */

/**
 * @param {string} sentence
 * @param {Record<string, string | number>} values name of a gap -> what stands there
 */
export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (gap, name) => String(values[name] ?? gap));
