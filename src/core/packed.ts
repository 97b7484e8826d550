/**
 * Values outside of the heap, for those that are too many to be kept as objects: JSON in compressed blocks. Those that were read
 * last are kept as texts, so what is read in about the order in which it was written is decompressed once.
 */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { parseExact, stringifyExact } from "./json.ts";

/** Values in a block, and blocks that are kept as texts. */
const BLOCK = 64;
const TEXTS_MAX = 8;

export class Packed<Value extends object> {
  readonly #blocks: Uint8Array[] = [];
  /** The last block, until it is full. */
  #open: string[] = [];
  /** By the block's place, the one that was read last at the end. */
  readonly #texts = new Map<number, readonly string[]>();

  /** Its place, from 0. */
  push(value: Value): number {
    const place = this.#blocks.length * BLOCK + this.#open.push(stringifyExact(value)) - 1;
    if (this.#open.length === BLOCK) {
      // A copy of its own: what the compressor gives, and a Buffer of it, is a part of a larger one.
      this.#blocks.push(new Uint8Array(zstdCompressSync(this.#open.join("\n"))));
      this.#open = [];
    }
    return place;
  }

  /** An equal one; members that are undefined are left out. @throws RangeError for a place that has none */
  at(place: number): Value {
    const text = this.#textsOf(Math.floor(place / BLOCK))[place % BLOCK];
    if (text === undefined) throw new RangeError(`there is nothing at ${place}`);
    return parseExact(text) as Value;
  }

  #textsOf(at: number): readonly string[] {
    const block = this.#blocks[at];
    if (block === undefined) return at === this.#blocks.length ? this.#open : [];
    const texts = this.#texts.get(at) ?? zstdDecompressSync(block).toString().split("\n");
    this.#texts.delete(at);
    this.#texts.set(at, texts);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > TEXTS_MAX && oldest !== undefined) this.#texts.delete(oldest);
    return texts;
  }
}
