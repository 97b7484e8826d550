/**
 * PDFs on booked documents, each once (ADR 0020), as records of `ir.attachment`. A send looks on the document first, by the
 * file's name, and takes what hangs there only when its bytes are those that its mark or the platform says; so it may be
 * repeated after a crash, a lost answer, and in books or with a store that were restored.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { AttachmentDocument } from "../../src/core/attachment.ts";
import {
  type Delivered,
  gone,
  type Inspection,
  type Outgoing,
  type Sink,
  thereAsBrought,
} from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { type Answer, done, type Finding, keyless } from "../../src/core/outcome.ts";
import { answering, finding, reading } from "../../src/ledger/errors.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import { ticketIn } from "../../src/ledger/orders.ts";
import { type Books, resourceOf as onInvoice } from "./books.ts";
import { resourceOf } from "./goods.ts";
import { draftsIn } from "./invoice-rows.ts";
import * as rpc from "./rows.ts";
import { TRYTON } from "./wire.ts";

const MODEL = "ir.attachment";

/** Of the documents of one kind. */
interface Place {
  /** Enters idempotency keys: it never changes. */
  readonly operation: string;
  /** The file's name, without its ending. */
  nameOf(document: AttachmentDocument): string;
  /** The booked document; null: it is not there, or another one is. @throws TrytonError */
  resourceOf(books: Books, document: AttachmentDocument): Promise<string | null>;
}

const onInvoices = (operation: string, type: "in" | "out"): Place => ({
  operation,
  nameOf: ({ number }) => number,
  async resourceOf(books, { id, counterpart }) {
    // `#12`, as links have it.
    const [draft] = draftsIn([counterpart]);
    const name = draft === undefined ? { "number =": counterpart } : { "id =": draft };
    const domain = await rpc.ownOf(books, rpc.where({ "type =": type, ...name }));
    const rows = await rpc.rowsOf(books, "account.invoice", domain, rpc.textsOrNone("comment"));
    // Books that were restored give a number again; one that a person entered has no mark.
    const [row, another] = rows.filter(({ comment }) => (platformIdIn(comment) ?? id) === id);
    return row === undefined || another !== undefined ? null : onInvoice(row);
  },
});

/** By their names as sinks; no flow names them. */
const PLACES: Readonly<Record<string, Place>> = {
  invoiceFiles: onInvoices("invoice.attach", "out"),
  billFiles: onInvoices("bill.attach", "in"),
  // One when the ticket waits, one when it is done.
  shipmentFiles: {
    operation: "shipment.attach",
    nameOf: ({ number, counterpart }) => ticketIn(counterpart)?.brought ?? number,
    resourceOf: (books, { id, number, counterpart }) =>
      resourceOf(books, ticketIn(counterpart)?.number ?? number, id),
  },
};

export const fileSinkNames = Object.keys(PLACES);

export const fileSinks = (books: Books): Record<string, Sink> =>
  Object.fromEntries(Object.entries(PLACES).map(([name, place]) => [name, fileSink(books, place)]));

/** An attachment with the file name that it gets: frozen with it. */
const Desired = AttachmentDocument.extend({ name: z.string().min(1) });
type Desired = z.infer<typeof Desired>;

const fileSink = (books: Books, place: Place): Sink => ({
  operation: place.operation,
  writes: "upsert",
  itemsMax: 1,
  atOnce: 1,
  // What hangs on a lock may run on after its deadline: only then a look proves anything.
  policy: { ...keyless, settleMs: books.config.settleMs },
  freeze: ([item]) => {
    const document = AttachmentDocument.parse(item?.document);
    const name = `${place.nameOf(document).replaceAll(UNFIT, "-")}.pdf`;
    const body = stringifyExact({ ...document, name } satisfies Desired);
    return { target: `${MODEL} ${name}`, body };
  },
  send: (request) => answering(TRYTON.errors, () => send(books, place, request)),
  find: (request) => finding(TRYTON.errors, () => find(books, place, desiredIn(request))),
  inspect: (delivered, signal) => reading(TRYTON, () => inspect(books, delivered, signal)),
});

/** What no file system takes in a name. */
// oxlint-disable-next-line no-control-regex
const UNFIT = /[\u0000-\u001f"*/:<>?\\|]/g;

const desiredIn = ({ body }: Pick<Outgoing, "body">): Desired => Desired.parse(parseExact(body));

/** @throws Refused, a fault of the ERP, and what the file's fetching rejects with */
async function send(books: Books, place: Place, request: Outgoing): Promise<Answer> {
  const desired = desiredIn(request);
  const { id: mark, name } = desired;
  const resource = await place.resourceOf(books, desired);
  if (resource === null) throw absent(desired);
  const hanging = await hangingOn(books, resource, name);
  const ours = hanging.find((one) => isOurs(desired, one));
  if (ours !== undefined) return done(`${name} was there: ${told(ours)}`, [ours.id]);
  const bytes = (await request.file?.()) ?? new Uint8Array();
  const sha256 = sha256Of(bytes);
  const same = hanging.find((one) => one.sha256 === sha256);
  if (same !== undefined) return done(`${name} was there: ${told(same)}`, [same.id]);
  const [other] = hanging;
  if (other !== undefined) throw taken(desired, resource, other);
  const data = { __class__: "bytes", base64: Buffer.from(bytes).toString("base64") };
  const description = `${markOf(mark)} sha256:${sha256}`;
  const values = { resource, name, type: "data", data, description };
  const [made] = await books.tryton.call<[number]>(`model.${MODEL}.create`, [[values]]);
  const id = String(made);
  return done(`${name}, ${bytes.length} bytes: ${told({ id, sha256 })}`, [id]);
}

/** Without the platform's bytes only the mark says whose it is. */
async function find(books: Books, place: Place, desired: Desired): Promise<Finding> {
  const resource = await place.resourceOf(books, desired);
  const hanging = resource === null ? [] : await hangingOn(books, resource, desired.name);
  const ours = hanging.find((one) => isOurs(desired, one));
  if (ours === undefined)
    return { found: "none", detail: `no ${desired.name} of ours is attached` };
  return { found: "exact", ids: [ours.id], detail: told(ours) };
}

const isOurs = ({ id }: Desired, { mark, marked, sha256 }: Hanging): boolean =>
  mark === id && marked === sha256;

/** Whatever became of its document, a file that is still there under its name is there. */
async function inspect(
  books: Books,
  delivered: readonly Delivered[],
  signal: AbortSignal,
): Promise<Inspection[]> {
  const ids = delivered.map(({ counterpart }) => Number(counterpart));
  const rows = await rpc.rowsOf(books, MODEL, rpc.where({ "id in": ids }), rpc.texts("name"), {
    signal,
  });
  const names = new Map(rows.map(({ id, name }) => [String(id), name]));
  return delivered.map(({ counterpart, body }) => {
    const name = names.get(counterpart);
    // Restored books give an id again, to another file.
    const isThere = name !== undefined && (body === null || name === desiredIn({ body }).name);
    return isThere ? thereAsBrought : gone;
  });
}

/** Hexadecimal, as other programs print it. */
const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

interface Hanging {
  readonly id: string;
  /** The platform's id of the document, as it is written beside the file; null: nothing is. */
  readonly mark: string | null;
  /** Of its bytes, as we wrote it beside the file; null: nothing is. */
  readonly marked: string | null;
  /** Of its bytes, hexadecimal. */
  readonly sha256: string;
}

/** Files of this name on a document, oldest first. @throws TrytonError */
async function hangingOn(books: Books, resource: string, name: string): Promise<Hanging[]> {
  const domain = rpc.where({ "resource =": resource, "name =": name });
  const hanging: Hanging[] = [];
  for (const { id, description, data_size } of await rpc.rowsOf(books, MODEL, domain, FILE)) {
    const marked = /(?:^|\s)sha256:(\S+)/.exec(description ?? "")?.[1] ?? null;
    const isRead = data_size <= READ_BYTES_MAX;
    const data = isRead ? (await rpc.rowOf(books, MODEL, id, DATA)).data : null;
    const bytes = Buffer.from(data?.base64 ?? "", "base64");
    const sha256 = isRead ? sha256Of(bytes) : (marked ?? "");
    hanging.push({ id: String(id), mark: platformIdIn(description), marked, sha256 });
  }
  return hanging;
}

const FILE = { ...rpc.textsOrNone("description"), data_size: rpc.as<number>() };
const DATA = { data: rpc.as<{ readonly base64: string } | null>() };

/** What an answer of Tryton has room for, in base64. A larger file is taken for what its mark says. */
const READ_BYTES_MAX = 20 * 1024 * 1024;

const told = ({ id, sha256 }: Pick<Hanging, "id" | "sha256">): string =>
  `attachment #${id}, sha256 ${sha256}`;

const absent = ({ number, counterpart, name }: Desired): Refused =>
  new Refused({
    code: "no-document",
    message: `${name} cannot be attached: ${TRYTON.name} has no ${counterpart} that came from ${number} of the platform`,
    next: `See what became of that document in ${TRYTON.name}; once it is there again, retry. Resolve this to go without the PDF.`,
  });

const taken = ({ name, number }: Desired, resource: string, { id }: Hanging): Refused =>
  new Refused({
    code: "other-file",
    message: `${resource} has another file of the name ${name} (attachment #${id}), and it is not the platform's PDF of ${number}`,
    next: `Rename or remove that file in ${TRYTON.name}, then retry; or resolve this to leave it as it is.`,
  });
