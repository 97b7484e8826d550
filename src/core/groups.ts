/** All of them in their order, so many at once. */
export function* inGroups<One>(all: readonly One[], most: number): Generator<readonly One[]> {
  for (let at = 0; at < all.length; at += most) yield all.slice(at, at + most);
}

export const sumOf = (values: Iterable<number>): number => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
};

/** Adds to the list of a key. */
export function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list !== undefined) list.push(value);
  // An array that begins with its value has no room for seventeen: most lists stay like that.
  else map.set(key, [value]);
}

/** Which of so many things belong together, directly or through others; each is a number from 0. */
export class Unions {
  readonly #parent: Int32Array;

  constructor(count: number) {
    this.#parent = Int32Array.from({ length: count }, (_, one) => one);
  }

  /** The same for all that belong together. */
  root(one: number): number {
    let at = one;
    while (this.#parent[at] !== at) {
      const up = this.#parent[at] ?? at;
      this.#parent[at] = this.#parent[up] ?? up;
      at = this.#parent[at] ?? up;
    }
    return at;
  }

  unite(one: number, other: number | undefined): void {
    if (other !== undefined) this.#parent[this.root(one)] = this.root(other);
  }

  /** Each group once, by the first of it, and its things in their order. */
  *groups(): Generator<number[]> {
    const count = this.#parent.length;
    /** The first of each group by its root, and after each thing the next one: as lists they would take more room. */
    const first = new Int32Array(count).fill(-1);
    const next = new Int32Array(count);
    for (let one = count - 1; one >= 0; one--) {
      const root = this.root(one);
      next[one] = first[root] ?? -1;
      first[root] = one;
    }
    for (let one = 0; one < count; one++) {
      if (first[this.root(one)] !== one) continue;
      const members: number[] = [];
      for (let at = one; at !== -1; at = next[at] ?? -1) members.push(at);
      yield members;
    }
  }
}

/** Those that have a name in common, directly or through others, in their order. */
export function connected<One>(
  all: readonly One[],
  namesOf: (one: One) => readonly string[],
): One[][] {
  const unions = new Unions(all.length);
  const named = new Map<string, number>();
  for (const [at, one] of all.entries())
    for (const name of namesOf(one)) {
      unions.unite(at, named.get(name));
      named.set(name, at);
    }
  return Array.from(unions.groups(), (own) => own.map((at) => all[at] as One));
}
