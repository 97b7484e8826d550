/** Golden data: what was recorded, and how something that is not it any more is told (test/golden.test.ts). */
import { hash } from "node:crypto";
import type { Emitted } from "../emit/emitted.ts";

/** Bytes that one block digest stands for. */
const BLOCK = 64;
const SHOWN = 160;

const sha = (bytes: Buffer): string => hash("sha256", bytes, "hex");

/** `<16 hex digits of all bytes> <length> <2 hex digits of each block>`: the blocks say where two files begin to differ. */
export function digestOf(bytes: Buffer): string {
  const blocks = Array.from({ length: Math.ceil(bytes.length / BLOCK) }, (_, at) =>
    sha(bytes.subarray(at * BLOCK, (at + 1) * BLOCK)).slice(0, 2),
  );
  return `${sha(bytes).slice(0, 16)} ${bytes.length} ${blocks.join("")}`;
}

/** Chained digests of many documents: one of each seed and one of each folder, which together say where to look. */
export class Tally {
  readonly #chains = new Map<string, { count: number; all: string }>();

  add(seed: number, { path, bytes }: Emitted): void {
    const text = `${path}\n${sha(bytes)}`;
    this.#chain(`seed ${seed}`, text);
    this.#chain(`folder ${path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "."}`, text);
  }

  /** `<16 hex digits> of <how many documents>` */
  digests(): Record<string, string> {
    return Object.fromEntries(
      [...this.#chains].map(([name, { count, all }]) => [name, `${all.slice(0, 16)} of ${count}`]),
    );
  }

  #chain(name: string, text: string): void {
    const { count, all } = this.#chains.get(name) ?? { count: 0, all: "" };
    this.#chains.set(name, { count: count + 1, all: hash("sha256", `${all}\n${text}`, "hex") });
  }
}

/** What is not as it was recorded, one line each, the first ones first. */
export function differences(
  recorded: Readonly<Record<string, string>>,
  files: readonly Emitted[],
  samples: Readonly<Record<string, string>>,
): string[] {
  const now = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const gone = Object.keys(recorded).filter((path) => !now.has(path));
  const changed = files.flatMap(({ path, bytes }) => {
    const digest = recorded[path];
    if (digest === undefined) return [`${path}: it was not written before`];
    return digest === digestOf(bytes) ? [] : [`${path}: ${changeIn(digest, bytes, samples[path])}`];
  });
  return [...gone.map((path) => `${path}: it is not written any more`), ...changed];
}

function changeIn(digest: string, bytes: Buffer, sample: string | undefined): string {
  if (sample !== undefined) {
    const before = Buffer.from(sample);
    const at = [...before].findIndex((byte, index) => byte !== bytes[index]);
    const from = at === -1 ? before.length : at;
    return `it differs from byte ${from} on; before: ${excerpt(before, from)}; now: ${excerpt(bytes, from)}`;
  }
  const [, length, blocks = ""] = digest.split(" ");
  const own = digestOf(bytes).split(" ")[2] ?? "";
  const at = (blocks.match(/../g) ?? []).findIndex(
    (block, index) => block !== own.slice(2 * index, 2 * index + 2),
  );
  const from = at === -1 ? Number(length) : at * BLOCK;
  return `it differs in the ${BLOCK} bytes from ${from} on (${length} bytes before, ${bytes.length} now); now: ${excerpt(bytes, from)}`;
}

const excerpt = (bytes: Buffer, from: number): string =>
  JSON.stringify(bytes.subarray(Math.max(0, from - 16), from + SHOWN).toString("utf8"));
