/** PDFs on booked documents, for src/ledger/files.ts: `ir.attachment`. */
import { fileSink, type Files, type Hanging, sha256Of } from "../../src/ledger/files.ts";
import { ticketIn } from "../../src/ledger/orders.ts";
import type { Sink } from "../../src/core/contract.ts";
import { type Books, resourceOf as onInvoice } from "./books.ts";
import { TRYTON } from "./wire.ts";
import { draftsIn } from "../../src/ledger/invoices.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import { as, ofCompany, rowOf, rowsOf, texts, textsOrNone, where } from "./rows.ts";
import { resourceOf } from "./goods.ts";

const MODEL = "ir.attachment";

/** By their names as sinks; no flow names them. */
export const files: Readonly<Record<string, (books: Books) => Sink>> = {
  invoiceFiles: (books) => open(books, onInvoices(books, "invoice", "out")),
  billFiles: (books) => open(books, onInvoices(books, "bill", "in")),
  // One when the ticket waits, one when it is done.
  shipmentFiles: (books) =>
    open(books, {
      operation: "shipment.attach",
      nameOf: ({ number, counterpart }) => ticketIn(counterpart)?.brought ?? number,
      resourceOf: ({ id, number, counterpart }) =>
        resourceOf(books, ticketIn(counterpart)?.number ?? number, id),
    }),
};

type Place = Pick<Files, "operation" | "nameOf" | "resourceOf">;

const onInvoices = (books: Books, kind: string, type: "in" | "out"): Place => ({
  operation: `${kind}.attach`,
  nameOf: ({ number }) => number,
  async resourceOf({ id, counterpart }) {
    // `#12`, as links have it.
    const [draft] = draftsIn([counterpart]);
    const domain = where({
      ...(await ofCompany(books)),
      "type =": type,
      ...(draft === undefined ? { "number =": counterpart } : { "id =": draft }),
    });
    const rows = await rowsOf(books, "account.invoice", domain, textsOrNone("comment"));
    // Books that were restored give a number again; one that a person entered has no mark.
    const [row, another] = rows.filter(({ comment }) => (platformIdIn(comment) ?? id) === id);
    return row === undefined || another !== undefined ? null : onInvoice(row);
  },
});

const open = (books: Books, place: Place): Sink =>
  fileSink(
    { ...TRYTON, settleMs: books.config.settleMs },
    {
      ...place,
      target: MODEL,
      async on(resource, name) {
        const domain = where({ "resource =": resource, "name =": name });
        const hanging: Hanging[] = [];
        for (const { id, description, data_size } of await rowsOf(books, MODEL, domain, FILE)) {
          const marked = /(?:^|\s)sha256:(\S+)/.exec(description ?? "")?.[1] ?? null;
          const sha256 = data_size <= READ_BYTES_MAX ? await sha256In(books, id) : (marked ?? "");
          hanging.push({ id: String(id), mark: platformIdIn(description), marked, sha256 });
        }
        return hanging;
      },
      async add({ resource, name, bytes, mark, sha256 }) {
        const data = { __class__: "bytes", base64: Buffer.from(bytes).toString("base64") };
        const description = `${markOf(mark)} sha256:${sha256}`;
        const values = { resource, name, type: "data", data, description };
        const [made] = await books.tryton.call<[number]>(`model.${MODEL}.create`, [[values]]);
        return String(made);
      },
      async names(ids, signal) {
        const domain = where({ "id in": ids.map(Number) });
        const rows = await rowsOf(books, MODEL, domain, texts("name"), { signal });
        return new Map(rows.map(({ id, name }) => [String(id), name]));
      },
    },
  );

const FILE = { ...textsOrNone("description"), data_size: as<number>() };

/** What an answer of Tryton has room for, in base64. A larger file is taken for what its mark says. */
const READ_BYTES_MAX = 20 * 1024 * 1024;

async function sha256In(books: Books, id: number): Promise<string> {
  const fields = { data: as<{ readonly base64: string } | null>() };
  const { data } = await rowOf(books, MODEL, id, fields);
  return sha256Of(Buffer.from(data?.base64 ?? "", "base64"));
}
