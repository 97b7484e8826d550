/**
 * PDFs on booked documents, each once (ADR 0020). A send looks on the document first, by the file's name, and takes what
 * hangs there only when its bytes are those that its mark or the platform says; so it may be repeated after a crash, a
 * lost answer, and in books or with a store that were restored.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { AttachmentDocument } from "../core/attachment.ts";
import {
  type Delivered,
  gone,
  type Inspection,
  type Outgoing,
  type Sink,
  thereAsBrought,
} from "../core/contract.ts";
import { Refused } from "../core/errors.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import { type Answer, done, type Finding, keyless } from "../core/outcome.ts";
import type { Books } from "./port.ts";
import { answering, finding, unavailable } from "./errors.ts";

/** What an ERP adds for the documents of one kind. Every method @throws a fault of the ERP. */
export interface Files {
  /** Enters idempotency keys: it never changes. */
  readonly operation: string;
  /** What its requests are called, before the file's name. */
  readonly target: string;
  /** The file's name, without its ending. */
  nameOf(document: AttachmentDocument): string;
  /** The booked document; null: it is not there, or another one is. */
  resourceOf(document: AttachmentDocument): Promise<string | null>;
  /** Files of this name on a document, oldest first. */
  on(resource: string, name: string): Promise<readonly Hanging[]>;
  /** Adds one; its id. */
  add(file: NewFile): Promise<string>;
  /** Names of files by their ids; those that are gone are left out. */
  names(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
}

export interface Hanging {
  readonly id: string;
  /** The platform's id of the document, as it is written beside the file; null: nothing is. */
  readonly mark: string | null;
  /** Of its bytes, as we wrote it beside the file; null: nothing is. */
  readonly marked: string | null;
  /** Of its bytes, hexadecimal. */
  readonly sha256: string;
}

export interface NewFile {
  readonly resource: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** See {@link Hanging}. */
  readonly mark: string;
  readonly sha256: string;
}

/** An attachment with the file name that it gets: frozen with it. */
const Desired = AttachmentDocument.extend({ name: z.string().min(1) });
type Desired = z.infer<typeof Desired>;

type Named = Pick<Books, "name" | "errors">;

export function fileSink(books: Named & Pick<Books, "settleMs">, files: Files): Sink {
  const { operation, target } = files;
  return {
    operation,
    writes: "upsert",
    itemsMax: 1,
    atOnce: 1,
    // What hangs on a lock may run on after its deadline: only then a look proves anything.
    policy: { ...keyless, settleMs: books.settleMs },
    freeze: ([item]) => {
      const document = AttachmentDocument.parse(item?.document);
      const name = `${files.nameOf(document).replaceAll(UNFIT, "-")}.pdf`;
      const body = stringifyExact({ ...document, name } satisfies Desired);
      return { target: `${target} ${name}`, body };
    },
    send: (request) => answering(books.errors, () => send(books, files, request)),
    find: (request) => finding(books.errors, () => find(files, desiredIn(request))),
    async inspect(delivered, signal) {
      try {
        return await inspect(files, delivered, signal);
      } catch (error) {
        throw unavailable(error, books);
      }
    },
  };
}

/** What no file system takes in a name. */
// oxlint-disable-next-line no-control-regex
const UNFIT = /[\u0000-\u001f"*/:<>?\\|]/g;

const desiredIn = ({ body }: Pick<Outgoing, "body">): Desired => Desired.parse(parseExact(body));

/** @throws Refused, a fault of the ERP, and what the file's fetching rejects with */
async function send(books: Named, files: Files, request: Outgoing): Promise<Answer> {
  const desired = desiredIn(request);
  const { id: mark, name } = desired;
  const resource = await files.resourceOf(desired);
  if (resource === null) throw absent(books, desired);
  const hanging = await files.on(resource, name);
  const ours = hanging.find((one) => isOurs(desired, one));
  if (ours !== undefined) return done(`${name} was there: ${told(ours)}`, [ours.id]);
  const bytes = (await request.file?.()) ?? new Uint8Array();
  const sha256 = sha256Of(bytes);
  const same = hanging.find((one) => one.sha256 === sha256);
  if (same !== undefined) return done(`${name} was there: ${told(same)}`, [same.id]);
  const [other] = hanging;
  if (other !== undefined) throw taken(books, desired, resource, other);
  const id = await files.add({ resource, name, bytes, mark, sha256 });
  return done(`${name}, ${bytes.length} bytes: ${told({ id, sha256 })}`, [id]);
}

/** Without the platform's bytes only the mark says whose it is. */
async function find(files: Files, desired: Desired): Promise<Finding> {
  const resource = await files.resourceOf(desired);
  const hanging = resource === null ? [] : await files.on(resource, desired.name);
  const ours = hanging.find((one) => isOurs(desired, one));
  if (ours === undefined)
    return { found: "none", detail: `no ${desired.name} of ours is attached` };
  return { found: "exact", ids: [ours.id], detail: told(ours) };
}

const isOurs = ({ id }: Desired, { mark, marked, sha256 }: Hanging): boolean =>
  mark === id && marked === sha256;

/** Whatever became of its document, a file that is still there under its name is there. */
async function inspect(
  files: Files,
  delivered: readonly Delivered[],
  signal: AbortSignal,
): Promise<Inspection[]> {
  const ids = delivered.map(({ counterpart }) => counterpart);
  const names = await files.names(ids, signal);
  return delivered.map(({ counterpart, body }) => {
    const name = names.get(counterpart);
    // Restored books give an id again, to another file.
    const isThere = name !== undefined && (body === null || name === desiredIn({ body }).name);
    return isThere ? thereAsBrought : gone;
  });
}

/** Hexadecimal, as other programs print it. */
export const sha256Of = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

const told = ({ id, sha256 }: Pick<Hanging, "id" | "sha256">): string =>
  `attachment #${id}, sha256 ${sha256}`;

const absent = (books: Named, { number, counterpart, name }: Desired): Refused =>
  new Refused({
    code: "no-document",
    message: `${name} cannot be attached: ${books.name} has no ${counterpart} that came from ${number} of the platform`,
    next: `See what became of that document in ${books.name}; once it is there again, retry. Resolve this to go without the PDF.`,
  });

const taken = (
  books: Named,
  { name, number }: Desired,
  resource: string,
  { id }: Hanging,
): Refused =>
  new Refused({
    code: "other-file",
    message: `${resource} has another file of the name ${name} (attachment #${id}), and it is not the platform's PDF of ${number}`,
    next: `Rename or remove that file in ${books.name}, then retry; or resolve this to leave it as it is.`,
  });
