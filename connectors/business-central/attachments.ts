/**
 * PDFs on invoices and bills, each once. The API keeps nothing beside a file but its name, so the name ends with the platform's
 * id; and a file is made before its bytes are: one without bytes is completed.
 */
import { z } from "zod";
import { AttachmentDocument } from "../../src/core/attachment.ts";
import { gone, type Outgoing, type Sink, thereAsBrought } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { done, keyless } from "../../src/core/outcome.ts";
import { decimal, text } from "../../src/ledger/documents.ts";
import { answering, finding, reading } from "../../src/ledger/errors.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { Made, SIDES } from "./rows.ts";
import { BOOKS, errors, idsAre, type Wire } from "./wire.ts";

interface Place {
  readonly side: LedgerSide;
  readonly parentType: string;
  /** Enters idempotency keys: it never changes. */
  readonly operation: string;
}

/** By their names as sinks; no flow names them. */
const PLACES: Readonly<Record<string, Place>> = {
  invoiceFiles: { side: "sale", parentType: "Sales Invoice", operation: "invoice.attach" },
  billFiles: { side: "purchase", parentType: "Purchase Invoice", operation: "bill.attach" },
};

const File = Made.extend({ fileName: text, byteSize: decimal });
const Booked = z.object({ id: text });

/** What no file system takes in a name. */
// oxlint-disable-next-line no-control-regex
const UNFIT = /[\u0000-\u001f"*/:<>?\\|]/g;
const nameOf = ({ number, id }: AttachmentDocument): string =>
  `${number.replaceAll(UNFIT, "-")} ${id}.pdf`;
const documentIn = ({ body }: Pick<Outgoing, "body">): AttachmentDocument =>
  AttachmentDocument.parse(parseExact(body));

export const fileSinks = (wire: Wire, config: BusinessCentralConfig): Record<string, Sink> =>
  Object.fromEntries(
    Object.entries(PLACES).map(([name, place]) => [name, fileSink(wire, config, place)]),
  );

function fileSink(
  wire: Wire,
  { settleMs }: BusinessCentralConfig,
  { side, parentType, operation }: Place,
): Sink {
  const set = SIDES[side].invoices;

  /** Our file on its document, if it is there. @throws Refused when the document is not */
  async function fileOf(document: AttachmentDocument, signal: AbortSignal) {
    const { counterpart, number } = document;
    const [booked] = await wire.either(set, idsAre([counterpart]), Booked, signal);
    if (booked === undefined)
      throw new Refused({
        code: "no-document",
        message: `the PDF of ${number} cannot be attached: ${BOOKS} has no ${counterpart}`,
        next: `See what became of that document in ${BOOKS}; once it is there again, retry. Resolve this to go without the PDF.`,
      });
    const filter = [`parentId eq ${booked.id}`];
    const files = await wire.either("documentAttachments", filter, File, signal);
    return files.find(({ fileName }) => fileName === nameOf(document));
  }

  async function send(request: Outgoing, signal: AbortSignal) {
    const document = documentIn(request);
    const name = nameOf(document);
    const there = await fileOf(document, signal);
    if (there !== undefined && there.byteSize.sign > 0)
      return done(`${name} was there`, [there.id]);
    const bytes = (await request.file?.()) ?? new Uint8Array();
    const body = { fileName: name, parentType, parentId: document.counterpart };
    const { id, "@odata.etag": etag } =
      there ?? (await wire.call("/documentAttachments", Made, { body }, signal));
    const path = `/documentAttachments(${id})/attachmentContent`;
    await wire.call(path, z.unknown(), { method: "PATCH", body: bytes, etag }, signal);
    return done(`${name}, ${bytes.length} bytes`, [id]);
  }

  return {
    operation,
    writes: "upsert",
    itemsMax: 1,
    atOnce: 1,
    policy: { ...keyless, settleMs },
    freeze: ([item]) => {
      const document = AttachmentDocument.parse(item?.document);
      return { target: nameOf(document), body: stringifyExact(document) };
    },
    send: (request, signal) => answering(errors, () => send(request, signal)),
    find: (request, signal) =>
      finding(errors, async () => {
        const file = await fileOf(documentIn(request), signal);
        return file === undefined || file.byteSize.sign === 0
          ? { found: "none", detail: "no such file of ours is attached" }
          : { found: "exact", ids: [file.id], detail: file.fileName };
      }),
    inspect: (delivered, signal) =>
      reading({ name: BOOKS, errors }, async () => {
        const ids = idsAre(delivered.map(({ counterpart }) => counterpart));
        const files = await wire.either("documentAttachments", ids, File, signal);
        return delivered.map(({ counterpart }) =>
          files.some(({ id }) => id === counterpart) ? thereAsBrought : gone,
        );
      }),
  };
}
