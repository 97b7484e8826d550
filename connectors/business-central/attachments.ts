/**
 * PDFs on invoices and bills. The API keeps nothing beside a file but its name, so the name ends with the platform's id; and
 * a file is made before its bytes are: one without bytes is completed.
 */
import { z } from "zod";
import { defined } from "../../src/core/defined.ts";
import { decimal, text } from "../../src/ledger/documents.ts";
import type { FileTable } from "../../src/ledger/files.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import { Made, SIDES } from "./rows.ts";
import { idsAre, type Wire } from "./wire.ts";

const SET = "documentAttachments";
const File = Made.extend({ fileName: text, byteSize: decimal });
const Created = Made.transform(({ id, "@odata.etag": version }) => ({ id, version }));
const Booked = z.object({ id: text });

/** By their names as sinks. */
export function fileTables(wire: Wire): Record<string, FileTable> {
  const filesOn = (side: LedgerSide, operation: string, parentType: string): FileTable => ({
    operation,
    nameOf: ({ number, id }) => `${number} ${id}`,
    async on({ counterpart }, signal) {
      const booked = await wire.either(SIDES[side].invoices, idsAre([counterpart]), Booked, signal);
      return booked.at(0)?.id ?? null;
    },
    async find(parent, { name }, signal) {
      const files = await wire.either(SET, [`parentId eq ${parent}`], File, signal);
      return files
        .filter(({ fileName }) => fileName === name)
        .map(({ id, byteSize, "@odata.etag": version }) => {
          const whose = byteSize.sign > 0 ? ("ours" as const) : ("begun" as const);
          return { id, whose, version, told: `attachment ${id}` };
        });
    },
    async add(parentId, { name: fileName, bytes }, begun, signal) {
      const body = { fileName, parentType, parentId };
      const made = begun ?? (await wire.call(`/${SET}`, Created, { body }, signal));
      const path = `/${SET}(${made.id})/attachmentContent`;
      const content = { method: "PATCH", body: bytes, ...defined({ etag: made.version }) } as const;
      await wire.call(path, z.unknown(), content, signal);
      return { id: made.id, told: `attachment ${made.id}` };
    },
    async names(ids, signal) {
      const files = await wire.either(SET, idsAre(ids), File, signal);
      return new Map(files.map(({ id, fileName }) => [id, fileName]));
    },
  });
  return {
    invoiceFiles: filesOn("sale", "invoice.attach", "Sales Invoice"),
    billFiles: filesOn("purchase", "bill.attach", "Purchase Invoice"),
  };
}
