/**
 * Values of few shapes as bytes outside of the heap, for those that are too many to be kept as objects: objects, arrays, texts,
 * Decimals and null. Of each shape the names of its members are kept once, texts that come again and again are numbered, and
 * what is as in the element before is not written again.
 */
import { Decimal } from "./decimal.ts";

const CHUNK = 1 << 20;
const LINE_END = 10;
/** Texts that are numbered, and texts among which one is looked for that comes again. */
const WORDS_MAX = 5_000;
const RECENT_MAX = 5_000;

type Members = Readonly<Record<string, unknown>>;
/** A Decimal that a number writes in the same digits; `""`: as before; else a letter for what it is and what it says. */
type Part = number | string | null;

export class Packed<Value extends object> {
  readonly #shapes: (readonly string[])[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #words = new Map<string, string>();
  readonly #texts: string[] = [];
  readonly #recent = new Set<string>();
  readonly #chunks: Buffer[] = [];
  /** Where each value begins in all chunks. */
  readonly #starts: number[] = [];
  #end = 0;

  /** Its place, from 0. */
  push(value: Value): number {
    const parts: Part[] = [];
    this.#write(value, undefined, parts);
    const text = `${JSON.stringify(parts)}\n`;
    const length = Buffer.byteLength(text);
    const room = this.#chunks.length * CHUNK - this.#end;
    if (length > room) {
      this.#end += room;
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(CHUNK, length)));
    }
    this.#chunks.at(-1)?.write(text, this.#end % CHUNK);
    const place = this.#starts.push(this.#end) - 1;
    this.#end = Math.min(this.#end + length, this.#chunks.length * CHUNK);
    return place;
  }

  /** An equal one. @throws RangeError for a place that has none */
  at(place: number): Value {
    const start = this.#starts[place] ?? -1;
    const chunk = this.#chunks[Math.floor(start / CHUNK)];
    if (chunk === undefined) throw new RangeError(`there is nothing at ${place}`);
    const from = start % CHUNK;
    // Parts of a JSON text are texts of their own: what is kept of a value does not keep all of it.
    const text = chunk.toString("utf8", from, chunk.indexOf(LINE_END, from));
    return this.#reader(JSON.parse(text) as Part[])(undefined) as Value;
  }

  /** `before`: the same member of the element before. */
  #write(value: unknown, before: unknown, parts: Part[]): void {
    if (value === null || value === undefined) parts.push(null);
    else if (value instanceof Decimal) {
      const { text } = value;
      if (before instanceof Decimal && before.text === text) parts.push("");
      else parts.push(String(Number(text)) === text ? Number(text) : `d${text}`);
    } else if (typeof value === "string")
      parts.push(value === before ? "" : (this.#wordOf(value) ?? `s${value}`));
    else if (Array.isArray(value)) {
      parts.push(`a${value.length}`);
      for (let at = 0; at < value.length; at++) this.#write(value[at], value[at - 1], parts);
    } else {
      const names = Object.keys(value);
      parts.push(`o${this.#shapeOf(names)}`);
      for (const name of names)
        this.#write((value as Members)[name], (before as Members | undefined)?.[name], parts);
    }
  }

  #shapeOf(names: readonly string[]): number {
    const key = names.join("\n");
    const number = this.#numbers.get(key) ?? this.#shapes.push(names) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  #wordOf(text: string): string | undefined {
    const word = this.#words.get(text);
    if (word !== undefined) return word;
    if (this.#recent.has(text) && this.#texts.length < WORDS_MAX)
      this.#words.set(text, `w${this.#texts.push(text) - 1}`);
    if (this.#recent.size >= RECENT_MAX) this.#recent.clear();
    this.#recent.add(text);
    return undefined;
  }

  #reader(parts: readonly Part[]): (before: unknown) => unknown {
    let at = 0;
    const read = (before: unknown): unknown => {
      const part = parts[at++] ?? null;
      if (part === null) return null;
      if (typeof part === "number") return Decimal.of(String(part));
      const rest = part.slice(1);
      switch (part.charAt(0)) {
        case "s":
          return rest;
        case "w":
          return this.#texts[Number(rest)];
        case "d":
          return Decimal.of(rest);
        case "a": {
          const array: unknown[] = [];
          for (let left = Number(rest); left > 0; left--) array.push(read(array.at(-1)));
          return array;
        }
        case "o": {
          const object: Record<string, unknown> = {};
          for (const name of this.#shapes[Number(rest)] ?? [])
            object[name] = read((before as Members | undefined)?.[name]);
          return object;
        }
        default:
          return before;
      }
    };
    return read;
  }
}
