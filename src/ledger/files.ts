/**
 * PDFs on booked documents, each once (ADR 0020). A send looks on the document first, by the file's name, and takes what is
 * there only when it is ours or has the platform's bytes; so it may be repeated after a crash, a lost answer, and in books
 * or with a store that were restored.
 */
import { z } from "zod";
import { AttachmentDocument } from "../core/attachment.ts";
import { gone, type Outgoing, type Sink, thereAsBrought } from "../core/contract.ts";
import { Refused } from "../core/errors.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import { sha256Hex } from "../core/keys.ts";
import { type Answer, done, keyless } from "../core/outcome.ts";
import { answering, finding, reading } from "./errors.ts";
import type { Books } from "./port.ts";

/** A PDF, with the file name that it gets: frozen with it. */
const PdfFile = AttachmentDocument.extend({ name: z.string().min(1) });
type PdfFile = z.infer<typeof PdfFile>;

/** A file of the name that is looked for. */
interface FileEntry {
  readonly id: string;
  /** `begun`: it is ours, and its bytes are still to come. */
  readonly whose: "ours" | "begun" | "unknown";
  /** Of one that was begun: the ERP's version of it. */
  readonly etag?: string;
  /** Of its bytes, hexadecimal. Left out: these books do not tell. */
  readonly sha256?: string;
  /** For people: `attachment #7, sha256 9f86…`. */
  readonly told: string;
}

/** The files on documents of one kind in an ERP. Every method @throws LedgerError */
export interface FileTable {
  /** Enters idempotency keys: it never changes. */
  readonly operation: string;
  /** The file's name, without its ending. */
  nameOf(document: AttachmentDocument): string;
  /** The booked document, as the ERP calls it; null: it is not there, or another one is. */
  on(document: AttachmentDocument, signal: AbortSignal): Promise<string | null>;
  /** Files of this name on it, oldest first. */
  find(on: string, file: PdfFile, signal: AbortSignal): Promise<readonly FileEntry[]>;
  /** Adds it, or completes the one that was begun. */
  add(
    on: string,
    file: PdfFile & { readonly bytes: Uint8Array; readonly sha256: string },
    begun: FileEntry | undefined,
    signal: AbortSignal,
  ): Promise<Pick<FileEntry, "id" | "told">>;
  /** The names of files, by their ids, whatever became of their documents. */
  names(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
}

type Named = Pick<Books, "name" | "errors" | "settleMs">;

/** By their names as sinks; no flow names them. */
export const fileSinks = (
  books: Named,
  tables: Readonly<Record<string, FileTable>>,
): Record<string, Sink> =>
  Object.fromEntries(Object.entries(tables).map(([name, one]) => [name, fileSink(books, one)]));

const fileSink = (books: Named, table: FileTable): Sink => ({
  operation: table.operation,
  writes: "upsert",
  itemsMax: 1,
  atOnce: 1,
  // What waits for a lock may run on after its deadline: only then a look proves anything.
  policy: { ...keyless, settleMs: books.settleMs },
  freeze: ([item]) => {
    const document = AttachmentDocument.parse(item?.document);
    const name = `${table.nameOf(document).replaceAll(UNFIT, "-")}.pdf`;
    return { target: name, body: stringifyExact({ ...document, name } satisfies PdfFile) };
  },
  send: (request, signal) => answering(books.errors, () => send(books, table, request, signal)),
  find: (request, signal) =>
    finding(books.errors, async () => {
      const file = fileIn(request);
      const on = await table.on(file, signal);
      const there = on === null ? [] : await table.find(on, file, signal);
      // Without the platform's bytes only its mark says whose it is.
      const ours = there.find(({ whose }) => whose === "ours");
      return ours === undefined
        ? { found: "none", detail: `no ${file.name} of ours is attached` }
        : { found: "exact", ids: [ours.id], detail: ours.told };
    }),
  inspect: (delivered, signal) =>
    reading(books, async () => {
      const ids = delivered.map(({ counterpart }) => counterpart);
      const names = await table.names(ids, signal);
      return delivered.map(({ counterpart, body }) => {
        const name = names.get(counterpart);
        // Restored books give an id again, to another file.
        const isThere = name !== undefined && (body === null || name === fileIn({ body }).name);
        return isThere ? thereAsBrought : gone;
      });
    }),
});

/** What no file system takes in a name. */
// oxlint-disable-next-line no-control-regex
const UNFIT = /[\u0000-\u001f"*/:<>?\\|]/g;

const fileIn = ({ body }: Pick<Outgoing, "body">): PdfFile => PdfFile.parse(parseExact(body));

/** @throws Refused, LedgerError, and what the file's fetching rejects with */
async function send(
  { name: books }: Named,
  table: FileTable,
  request: Outgoing,
  signal: AbortSignal,
): Promise<Answer> {
  const file = fileIn(request);
  const { name, number, counterpart } = file;
  const on = await table.on(file, signal);
  if (on === null)
    throw new Refused({
      code: "no-document",
      message: `${name} cannot be attached: ${books} has no ${counterpart} that came from ${number} of the platform`,
      next: `See what became of that document in ${books}; once it is there again, retry. Close this to go without the PDF.`,
    });
  const there = await table.find(on, file, signal);
  const isThere = ({ id, told }: FileEntry) => done(`${name} was there: ${told}`, [id]);
  const ours = there.find(({ whose }) => whose === "ours");
  if (ours !== undefined) return isThere(ours);
  const bytes = (await request.file?.()) ?? new Uint8Array();
  const sha256 = sha256Hex(bytes);
  const same = there.find((one) => one.sha256 === sha256);
  if (same !== undefined) return isThere(same);
  const begun = there.find(({ whose }) => whose === "begun");
  const [other] = there;
  if (other !== undefined && begun === undefined)
    throw new Refused({
      code: "other-file",
      message: `${on} has another file of the name ${name} (${other.told}), and it is not the platform's PDF of ${number}`,
      next: `Rename or remove that file in ${books}, then retry; or close this to leave it as it is.`,
    });
  const { id, told } = await table.add(on, { ...file, bytes, sha256 }, begun, signal);
  return done(`${name}, ${bytes.length} bytes: ${told}`, [id]);
}
