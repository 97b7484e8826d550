/** The sink `books` of the connector kit, and the header of the export that it reads, for a folder here and over SFTP. */
import { invoice, item } from "./sink.ts";

export const HEADER =
  "ID,Code,Name,Phone,Mobile,E-Mail,Addresses/Building Name,Addresses/Street,Addresses/Postal Code,Addresses/City," +
  "Addresses/Subdivision/Code,Addresses/Country/Code,Customer Payment Term";

export const books = {
  good: item(invoice()),
  refused: item(invoice({ notes: "a\u0000b" })),
  lacks: {
    batches: "one document per file",
    "batches-cut-off": "one document per file",
    restored: "what a folder's reader took cannot be asked for",
    changed: "what a folder's reader took cannot be asked for",
    cancellation: "a void document is one more version of it",
    codes: "codes are written as they are",
    clock: "nothing depends on a clock",
  },
};

/** An endpoint's section with the source `customers` and the sink `books`; `sftp` null: in a folder of this machine. */
export const settingsIn = (
  folder: string,
  { sftp = null, source = {}, sink = {} }: { sftp?: unknown; source?: object; sink?: object } = {},
) => ({
  folder,
  ...(sftp === null ? {} : { sftp }),
  settleMs: 0,
  sources: {
    customers: {
      layout: "books.parties",
      profile: "tryton-export/customers",
      folder: "out",
      pick: "*.csv",
      ...source,
    },
  },
  sinks: { books: { document: "customer-invoices", folder: "in", ...sink } },
});
