/**
 * PDFs on booked documents: `ir.attachment`, each once (ADR 0038). A send looks on the document first, by the file's name,
 * and takes what hangs there only when its bytes are those that its mark or the platform says; so it may be repeated after
 * a crash, a lost answer, and in books or with a store that were restored.
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
import { answering, finding } from "../../src/books/answering.ts";
import type { Books } from "./books.ts";
import { reading, TRYTON } from "./errors.ts";
import { markOf, platformIdIn } from "./marks.ts";
import { ticketsOf } from "./shipments-notes.ts";
import { KINDS } from "./shipments-values.ts";

/** An attachment with the file name that it gets: frozen with it. */
const Wanted = AttachmentDocument.extend({ name: z.string().min(1) });
type Wanted = z.infer<typeof Wanted>;

/** Where it hangs. */
interface Place {
  readonly operation: string;
  /** The file's name, without its ending. */
  nameOf(document: AttachmentDocument): string;
  /** The booked document, `account.invoice,12`; null: it is not there, or another one is. @throws TrytonError */
  resourceOf(books: Books, document: AttachmentDocument): Promise<string | null>;
}

/** On customer invoices. */
export const invoiceFiles = (books: Books): Sink => openSink(books, onInvoices("invoice", "out"));

/** On supplier invoices. */
export const billFiles = (books: Books): Sink => openSink(books, onInvoices("bill", "in"));

/** On customer and supplier shipments: one when it waits, one when it is done. */
export const shipmentFiles = (books: Books): Sink => openSink(books, onShipments);

const onInvoices = (kind: string, type: "in" | "out"): Place => ({
  operation: `${kind}.attach`,
  nameOf: ({ number }) => number,
  async resourceOf({ tryton }, { id, counterpart }) {
    const isDraft = counterpart.startsWith("#");
    const domain = [
      ["company", "=", (await tryton.session()).company],
      ["type", "=", type],
      // `#12`, as links have it.
      isDraft ? ["id", "=", Number(counterpart.slice(1))] : ["number", "=", counterpart],
    ];
    const rows = await tryton.call<{ id: number; comment: string | null }[]>(
      "model.account.invoice.search_read",
      [domain, 0, null, null, ["comment"]],
    );
    // Books that were restored give a number again; one that a person entered has no mark.
    const [row, another] = rows.filter(({ comment }) => (platformIdIn(comment) ?? id) === id);
    return row === undefined || another !== undefined ? null : `account.invoice,${row.id}`;
  },
});

/** `DT-1001 done platform:1c2d…`, as links have it. */
const SHIPMENT = /^((.+) (?:waiting|done|cancelled)) platform:\S+$/;

const onShipments: Place = {
  operation: "shipment.attach",
  nameOf: ({ number, counterpart }) => SHIPMENT.exec(counterpart)?.[1] ?? number,
  async resourceOf(books, { id, number, counterpart }) {
    const { tryton } = books;
    const domain = [
      ["company", "=", (await tryton.session()).company],
      ["number", "=", SHIPMENT.exec(counterpart)?.[2] ?? number],
    ];
    for (const type of ["out", "in"] as const) {
      const { model } = KINDS[type];
      const ids = await tryton.call<number[]>(`model.${model}.search`, [domain, 0, null, null]);
      const owners = await ticketsOf(
        books,
        type,
        ids.map((id) => ({ id })),
      );
      const own = ids.find((shipment) => owners.get(shipment)?.includes(id) === true);
      if (own !== undefined) return `${model},${own}`;
    }
    return null;
  },
};

function openSink(books: Books, place: Place): Sink {
  return {
    operation: place.operation,
    writes: "upsert",
    itemsMax: 1,
    atOnce: 1,
    // What hangs on a lock may run on after its deadline: only then a look proves anything.
    policy: { ...keyless, settleMs: books.config.settleMs },
    freeze: ([item]) => {
      const document = AttachmentDocument.parse(item?.document);
      const name = `${place.nameOf(document).replaceAll(UNFIT, "-")}.pdf`;
      return {
        target: `ir.attachment ${name}`,
        body: stringifyExact({ ...document, name } satisfies Wanted),
      };
    },
    send: (request) => answering(TRYTON.errors, () => send(books, place, request)),
    find: (request) => finding(TRYTON.errors, () => find(books, place, wantedIn(request))),
    inspect: (delivered, signal) => reading(() => inspect(books, delivered, signal)),
  };
}

/** What no file system takes in a name. */
// oxlint-disable-next-line no-control-regex
const UNFIT = /[\u0000-\u001f"*/:<>?\\|]/g;

const wantedIn = ({ body }: Pick<Outgoing, "body">): Wanted => Wanted.parse(parseExact(body));

/** An attachment of the wanted name, and whether its bytes are those that its mark says. */
interface Hanging {
  readonly id: number;
  readonly sha256: string;
  readonly isOurs: boolean;
}

/** @throws Refused, TrytonError, and what the file's fetching rejects with */
async function send(books: Books, place: Place, request: Outgoing): Promise<Answer> {
  const wanted = wantedIn(request);
  const { id, name } = wanted;
  const resource = await place.resourceOf(books, wanted);
  if (resource === null) throw absent(wanted);
  const hanging = await hangingOn(books, resource, wanted);
  const ours = hanging.find(({ isOurs }) => isOurs);
  if (ours !== undefined) return done(`${name} was there: ${told(ours)}`, [String(ours.id)]);
  const bytes = (await request.file?.()) ?? new Uint8Array();
  const sha256 = sha256Of(bytes);
  const same = hanging.find((one) => one.sha256 === sha256);
  if (same !== undefined) return done(`${name} was there: ${told(same)}`, [String(same.id)]);
  const [other] = hanging;
  if (other !== undefined) throw taken(wanted, resource, other);
  const values = {
    resource,
    name,
    type: "data",
    data: { __class__: "bytes", base64: Buffer.from(bytes).toString("base64") },
    description: `${markOf(id)} sha256:${sha256}`,
  };
  const [made] = await books.tryton.call<[number]>("model.ir.attachment.create", [[values]]);
  return done(`${name}, ${bytes.length} bytes: ${told({ id: made, sha256 })}`, [String(made)]);
}

/** Without the platform's bytes only the mark says whose it is. */
async function find(books: Books, place: Place, wanted: Wanted): Promise<Finding> {
  const resource = await place.resourceOf(books, wanted);
  const hanging = resource === null ? [] : await hangingOn(books, resource, wanted);
  const ours = hanging.find(({ isOurs }) => isOurs);
  if (ours === undefined) return { found: "none", detail: `no ${wanted.name} of ours is attached` };
  return { found: "exact", ids: [String(ours.id)], detail: told(ours) };
}

/** By name, oldest first. @throws TrytonError */
async function hangingOn(
  { tryton }: Books,
  resource: string,
  { id, name }: Wanted,
): Promise<Hanging[]> {
  const domain = [
    ["resource", "=", resource],
    ["name", "=", name],
  ];
  const rows = await tryton.call<Row[]>("model.ir.attachment.search_read", [
    domain,
    0,
    null,
    [["id", "ASC"]],
    ["description", "data_size"],
  ]);
  const hanging: Hanging[] = [];
  for (const row of rows) {
    const marked = /(?:^|\s)sha256:(\S+)/.exec(row.description ?? "")?.[1];
    const isWhole = row.data_size <= READ_BYTES_MAX;
    const sha256 = isWhole ? await sha256In(tryton, row.id) : (marked ?? "");
    const isOurs = platformIdIn(row.description) === id && marked === sha256;
    hanging.push({ id: row.id, sha256, isOurs });
  }
  return hanging;
}

/** What an answer of Tryton has room for, in base64. A larger file is taken for what its mark says. */
const READ_BYTES_MAX = 20 * 1024 * 1024;

async function sha256In(tryton: Books["tryton"], id: number): Promise<string> {
  const [row] = await tryton.call<{ data: { base64: string } | null }[]>(
    "model.ir.attachment.read",
    [[id], ["data"]],
  );
  return sha256Of(Buffer.from(row?.data?.base64 ?? "", "base64"));
}

interface Row {
  readonly id: number;
  readonly description: string | null;
  readonly data_size: number;
}

/** Whatever became of its document, a file that is still there under its name is there. @throws TrytonError */
async function inspect(
  { tryton }: Books,
  delivered: readonly Delivered[],
  signal: AbortSignal,
): Promise<Inspection[]> {
  const ids = delivered.map(({ counterpart }) => Number(counterpart));
  const rows = await tryton.call<{ id: number; name: string }[]>(
    "model.ir.attachment.search_read",
    [[["id", "in", ids]], 0, null, null, ["name"]],
    { signal },
  );
  const names = new Map(rows.map(({ id, name }) => [String(id), name]));
  return delivered.map(({ counterpart, body }) => {
    const name = names.get(counterpart);
    // Restored books give an id again, to another file.
    const isThere = name !== undefined && (body === null || name === wantedIn({ body }).name);
    return isThere ? thereAsBrought : gone;
  });
}

/** Hexadecimal, as other programs print it. */
const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const told = ({ id, sha256 }: Pick<Hanging, "id" | "sha256">): string =>
  `attachment #${id}, sha256 ${sha256}`;

const absent = ({ number, counterpart, name }: Wanted): Refused =>
  new Refused({
    code: "no-document",
    message: `${name} cannot be attached: Tryton has no ${counterpart} that came from ${number} of the platform`,
    next: "See what became of that document in Tryton; once it is there again, retry. Resolve this to go without the PDF.",
  });

const taken = ({ name, number }: Wanted, resource: string, { id }: Hanging): Refused =>
  new Refused({
    code: "other-file",
    message: `${resource} has another file of the name ${name} (attachment #${id}), and it is not the platform's PDF of ${number}`,
    next: "Rename or remove that file in Tryton, then retry; or resolve this to leave it as it is.",
  });
