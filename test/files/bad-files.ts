/** Files as they should not be, in any number: what each is, and what must become of it. */
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const HEADER =
  "Code,Name,City,State,ZIP,Country,Latitude,Longitude,Capacity,Operating Hours,Active";
const row = (code: string, name = "Plant", capacity = "1000.50", active = "1") =>
  `${code},${name},Tulsa,OK,74101,US,36.1,-95.9,${capacity},,${active}`;
const lines = (...rows: string[]) => [HEADER, ...rows, ""].join("\r\n");
const utf16 = (text: string, big: boolean, mark = true) => {
  const bytes = Buffer.from(`${mark ? "\ufeff" : ""}${text}`, "utf16le");
  return big ? bytes.swap16() : bytes;
};

/**
 * `refused`: it lies in `failed` with a report, and nothing of it was read. `cut`: the same, but its first good row was read.
 * `rows`: its two good rows were read, and at least one was quarantined. `good`: its two good rows were read, and no other.
 * `left`: it lies where it lay, and is told.
 */
export type Fate = "refused" | "cut" | "rows" | "good" | "left";

export interface BadFile {
  readonly kind: string;
  readonly fate: Fate;
  readonly name: string;
  /** The codes of its good rows. */
  readonly good: readonly [string, string];
}

type Make = (a: string, b: string, bad: string) => string | Buffer;

/** `a` and `b` are good rows. */
const KINDS: Readonly<Record<string, readonly [Fate, Make]>> = {
  "nothing at all": ["refused", () => ""],
  "a header alone, cut": ["refused", () => HEADER],
  "Macintosh line ends": ["refused", (a, b) => lines(a, b).replaceAll("\r\n", "\r")],
  "UTF-16 without a mark": ["refused", (a, b) => utf16(lines(a, b), false, false)],
  "a workbook": ["refused", () => Buffer.from("PK\u0003\u0004\u0014\u0000\n\u0000\n")],
  "NUL in the header": ["refused", (a, b) => lines(a, b).replace("Name", "Na\u0000me")],
  "a column twice": ["refused", (a, b) => lines(a, b).replace("City", "Name")],
  "a column that is missing": ["refused", (a, b) => lines(a, b).replace("Capacity,", "")],
  "a stray quote": ["refused", (a, b) => lines(a, b, row("x", 'a"b"'))],
  "a mark of UTF-8 before other bytes": [
    "refused",
    (a, b) => Buffer.concat([Buffer.from("\ufeff"), Buffer.from(lines(a, b, "ñ"), "latin1")]),
  ],
  "an end within a row": ["cut", (a, b) => lines(a, b).slice(0, -20)],
  "an end within quotes": ["cut", (a) => `${lines(a)}x,"Pla`],
  "mixed line ends": ["good", (a, b) => `${HEADER}\n${a}\r\n\r\n${b}\n`],
  "UTF-16, low byte first": ["good", (a, b) => utf16(lines(a, b), false)],
  "UTF-16, high byte first": ["good", (a, b) => utf16(lines(a, b), true)],
  "bytes of Windows-1252": [
    "good",
    (a, b) => Buffer.from(lines(a, b.replace("Plant", "Peña")), "latin1"),
  ],
  "characters of four bytes": ["good", (a, b) => lines(a, b.replace("Plant", "😀𝔘"))],
  "text like a formula": ["good", (a, b) => lines(a, b.replace("Plant", "=cmd|' /C calc'!A0"))],
  "NUL in a cell": ["rows", (a, b, bad) => lines(a, row(bad, "Pl\u0000ant"), b)],
  "too few cells": ["rows", (a, b, bad) => lines(a, `${bad},Plant`, b)],
  "too many cells": ["rows", (a, b, bad) => lines(a, `${row(bad)},x`, b)],
  "a formula for a number": ["rows", (a, b, bad) => lines(a, row(bad, "P", "=1+1"), b)],
  "an exponent": ["rows", (a, b, bad) => lines(a, row(bad, "P", "4.47E+06"), b)],
  "thousands separators": ["rows", (a, b, bad) => lines(a, row(bad, "P", '"1,000.5"'), b)],
  "a flag that is none": ["rows", (a, b, bad) => lines(a, row(bad, "P", "1", "yes"), b)],
  "a text without end": ["rows", (a, b, bad) => lines(a, row(bad, "x".repeat(4_001)), b)],
  "a key twice": ["rows", (a, b, bad) => lines(a, row(bad, "P"), row(bad, "Q"), b)],
};
/** Under a name that no one should trust. */
const NAMES = ["t;rm -rf.csv", "t\nx.csv", "t$(x).csv", "t..\\..\\x.csv", "t\u202Ecsv.csv"];

/** Puts `rounds` files of each kind into a folder, to be read as `t*.csv` of `plain/terminals`. */
export async function putBadFiles(folder: string, rounds: number): Promise<BadFile[]> {
  const put: BadFile[] = [];
  const add = async (
    kind: string,
    fate: Fate,
    make: (path: string, a: string, b: string, bad: string) => Promise<void>,
    named = `t${put.length}.csv`,
  ): Promise<void> => {
    const at = put.length;
    const good = [`A${at}`, `B${at}`] as const;
    await make(join(folder, named), row(good[0]), row(good[1]), `X${at}`);
    put.push({ kind, fate, name: named, good });
  };
  for (let round = 0; round < rounds; round++) {
    for (const [kind, [fate, make]] of Object.entries(KINDS))
      await add(kind, fate, (path, a, b, bad) => {
        const content = make(a, b, bad);
        // The same bytes would be known after the first.
        return writeFile(
          path,
          typeof content === "string" && content === "" ? "\n".repeat(round) : content,
        );
      });
    await add("a link", "left", (path) => symlink("/etc/passwd", path));
    for (const name of NAMES)
      await add(
        "an odd name",
        "left",
        (path, a, b) => writeFile(path, lines(a, b)),
        name.replace("t", `t${round}`),
      );
  }
  return put;
}
