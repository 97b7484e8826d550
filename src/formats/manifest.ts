/**
 * A manifest says what its file must come to: JSON beside the file, under the file's name with an ending more. Whoever
 * writes the file writes it last; what does not agree with it is not read.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { Decimal } from "../core/decimal.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import { FileFault, PartFault, type Totals } from "./format.ts";
import type { Table } from "./table/columns.ts";

export const MANIFEST_BYTES_MAX = 65_536;

const Count = z.custom<Decimal>((value) => value instanceof Decimal && value.isInteger);
const Sum = z.union([
  z.custom<Decimal>((value) => value instanceof Decimal),
  z
    .string()
    .refine((text) => Decimal.is(text), "is no number")
    .transform((text) => Decimal.of(text)),
]);

const Manifest = z.strictObject({
  file: z.string().optional(),
  bytes: Count.optional(),
  sha256: z.string().optional(),
  documents: Count.optional(),
  rows: Count.optional(),
  sums: z.record(z.string(), Sum).optional(),
});

/** What a file must come to; what is left out is not compared. */
export interface Manifest extends z.infer<typeof Manifest> {
  /** The manifest's own name. */
  readonly name: string;
}

/**
 * What the bytes of a manifest say. `file`: the file that it is of, under the names that it may have there: a file that was put
 * back has a hash in its name.
 * @throws PartFault for what is no manifest, or that of another file
 */
export function manifestIn(
  bytes: Buffer,
  name: string,
  [file = "", ...otherNames]: readonly string[],
): Manifest {
  const refused = (why: string): PartFault =>
    new PartFault(file, new FileFault(`has a manifest (${name}) that ${why}`));
  if (bytes.length > MANIFEST_BYTES_MAX)
    throw refused(`is larger than ${MANIFEST_BYTES_MAX} bytes`);
  let json: unknown;
  try {
    json = parseExact(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw refused("is not JSON in UTF-8");
  }
  const { success, data, error } = Manifest.safeParse(json);
  if (!success) {
    const [issue] = error.issues;
    const at = issue?.path.map(String).join(".") ?? "";
    throw refused(`is not as it should be${at === "" ? "" : ` at ${at}`}: ${issue?.message ?? ""}`);
  }
  if (data.file !== undefined && data.file !== file && !otherNames.includes(data.file))
    throw refused(`is of ${data.file}`);
  return { ...data, name };
}

/** What of the bytes themselves does not agree. @throws PartFault */
export function checkBytes(
  { name, bytes, sha256 }: Manifest,
  file: { readonly name: string; readonly size: number; readonly hash: string },
): void {
  const found: string[] = [];
  if (bytes !== undefined && !bytes.equals(Decimal.of(String(file.size))))
    found.push(`has ${file.size} bytes, and ${name} says ${bytes.plain()}`);
  if (sha256 !== undefined && sha256.toLowerCase() !== file.hash)
    found.push(`has the SHA-256 ${file.hash}, and ${name} says ${sha256}`);
  if (found.length > 0) throw new PartFault(file.name, new FileFault(found.join("; ")));
}

/**
 * The same of a file that is no table. It has no rows and no columns, so a manifest with any would check nothing.
 * @throws PartFault
 */
export function checkDocuments(manifest: Manifest, file: string, documents: number): void {
  const { name, rows, sums, documents: told } = manifest;
  const there = Decimal.of(String(documents));
  const found: string[] = [];
  if (rows !== undefined) found.push(`is no table, and ${name} says how many rows it has`);
  if (sums !== undefined) found.push(`is no table, and ${name} has sums of columns`);
  if (told !== undefined && !told.equals(there))
    found.push(`has ${documents} documents, and ${name} says ${told.plain()}`);
  if (found.length > 0) throw new PartFault(file, new FileFault(found.join("; ")));
}

/** What something says that a file comes to: its manifest, or its last row. */
interface Told {
  /** What says so. */
  readonly name: string;
  readonly counts: Readonly<Record<string, Decimal | undefined>>;
  /** By the label of a column. */
  readonly sums: Readonly<Record<string, Decimal>>;
}

/**
 * What the whole file came to against what is said of it. `counts`: how many there are; what is not here is not compared.
 * @throws FileFault that names both values of all that differs
 */
export function expectTotals(
  { name, ...told }: Told,
  { tally, sheet }: Pick<Table, "tally" | "sheet">,
  counts: Readonly<Record<string, number | null>>,
  line = 1,
): void {
  const found: string[] = [];
  const differs = (said: Decimal | undefined, there: Decimal, what: string): void => {
    if (said !== undefined && !said.equals(there))
      found.push(`has ${what.replace("#", there.plain())}, and ${name} says ${said.plain()}`);
  };
  if (sheet.cut !== null) found.push(sheet.cut.reason);
  for (const [what, count] of Object.entries(counts))
    if (count !== null) differs(told.counts[what], Decimal.of(String(count)), `# ${what}`);
  let column = "";
  for (const [label, said] of Object.entries(told.sums)) {
    const before = found.length;
    const bad = tally?.unreadable.get(label);
    const sum = tally?.sums.get(label);
    if (sum === undefined) found.push(`has no column of numbers ${label}, and ${name} has its sum`);
    else if (bad === undefined) differs(said, sum, `the sum # in ${label}`);
    else found.push(`cannot be summed in ${label}: line ${bad.line} ${bad.message}`);
    if (column === "" && found.length > before) column = label;
  }
  if (found.length > 0) throw new FileFault(found.join("; "), line, column);
}

/** The same of its manifest. `documents`: how many records it had; null: it is not of the heads. @throws FileFault */
export const checkTotals = (manifest: Manifest, table: Table, documents: number | null): void => {
  const { name, rows, documents: records, sums = {} } = manifest;
  const there = { rows: table.tally?.rows ?? null, documents };
  expectTotals({ name, counts: { rows, documents: records }, sums }, table, there);
};

/** The manifest of a file of ours: it follows from the file alone, so that it is the same whenever it is asked for. */
export function manifestText(
  { name, bytes }: { readonly name: string; readonly bytes: Buffer },
  documents: number,
  totals: Totals | null,
): string {
  const sha256 = hash("sha256", bytes, "hex");
  const told = { file: name, bytes: bytes.length, sha256, documents, ...totals };
  return `${stringifyExact(told)}\n`;
}
