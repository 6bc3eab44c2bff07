// A store in memory, with what a browser's store may do: forget nothing, or be full.

export function shelf(entries = {}) {
  const kept = new Map(Object.entries(entries));
  return {
    kept,
    full: false,
    names: (prefix) => [...kept.keys()].filter((name) => name.startsWith(prefix)),
    read: (name) => kept.get(name) ?? null,
    write(name, text) {
      if (!this.full) kept.set(name, text);
      return !this.full;
    },
    remove: (name) => void kept.delete(name),
  };
}
