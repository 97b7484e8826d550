/** Chance that repeats itself: the same seed draws the same numbers, texts and ids on every start. */
export class Random {
  readonly #seed: number;
  #state: number;
  #ids = 0;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#state = mix(this.#seed + 1);
  }

  /** 0 to 1, without 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Both ends included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const index = this.int(0, list.length - 1);
    if (index < 0) throw new RangeError("nothing to pick from");
    return list[index] as T;
  }

  digits(count: number): string {
    let text = "";
    for (let at = 0; at < count; at++) text += this.int(at === 0 ? 1 : 0, 9);
    return text;
  }

  /**
   * No id comes twice, whatever the seeds: first and last word together are a reversible function of seed and count
   * (a draw of random words would meet itself within a few million ids).
   */
  uuid(): string {
    const first = mix(this.#ids++ + mix(this.#seed));
    const last = mix(this.#seed ^ first);
    const second = hex(mix(first ^ 0x5bd1e995));
    const third = mix(last ^ 0x27d4eb2f);
    const variant = hex((third & 0x3fffffff) | 0x80000000);
    return `${hex(first)}-${second.slice(0, 4)}-4${second.slice(5)}-${variant.slice(0, 4)}-${variant.slice(4)}${hex(last)}`;
  }
}

/** Shuffles the bits of a 32-bit word, reversibly. */
export function mix(word: number): number {
  let bits = word | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

const bytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const hexByte = (word: number): string => bytes[word & 255] ?? "";

const hex = (word: number): string =>
  hexByte(word >>> 24) + hexByte(word >>> 16) + hexByte(word >>> 8) + hexByte(word);
