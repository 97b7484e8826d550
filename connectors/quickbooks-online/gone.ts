/**
 * Records that QuickBooks has no more, as sources tell them. Of a deleted record only its id is left: an invoice is told
 * as deleted, a party as inactive, and a person is told what nothing else tells.
 */
import { partyChange } from "../../src/ledger/changes.ts";
import type { Change } from "../../src/core/contract.ts";
import { deletedInvoice, inactiveParty } from "../quickbooks/told.ts";
import type { Gone } from "./changes.ts";
import { type DocumentKind, partyCode } from "./documents.ts";
import { QUICKBOOKS } from "./errors.ts";
import type { Online } from "./online.ts";
import { DocumentRow } from "./rows.ts";
import { listed } from "./tables.ts";
import type { ChangedRow } from "./captured.ts";

export const goneInvoice = ({ surroundings }: Online, { id, at }: ChangedRow): Change =>
  deletedInvoice(id, "deleted", {
    party: "unknown",
    days: { date: surroundings.dayOf(at ?? surroundings.now().toISOString()) },
    words: { currency: surroundings.currency },
  });

/** Ids of those that have something to pay. @throws LedgerError */
export async function openInvoices({ wire }: Online, signal: AbortSignal): Promise<number[]> {
  const of = { entity: "Invoice", schema: DocumentRow } as const;
  const ids: number[] = [];
  for await (const { rows } of listed(wire, of, ["WHERE Balance > '0'"], null, signal))
    ids.push(...rows.map(({ Id }) => Number(Id)));
  return ids;
}

/** A price is told by the item's name, which is gone with it. */
export const goneItem = ({ id }: Pick<ChangedRow, "id">): string =>
  `QuickBooks has item ${id} no more: a price of it that the platform has stays there until a person changes it.`;

/** QuickBooks deletes a party only by merging it into another one: the connection stays until a person looks. */
export function goneParty(kind: DocumentKind, rows: readonly ChangedRow[]): Gone {
  const codes = rows.map(({ id }) => partyCode(kind, id));
  return {
    changes: codes.map((code) => {
      const [isCustomer, isSupplier] = [kind === "invoice", kind === "bill"];
      const record = inactiveParty({ code, name: code, isCustomer, isSupplier });
      return partyChange(QUICKBOOKS.name, record);
    }),
    notices: codes.map(
      (code) =>
        `QuickBooks has ${code} no more: it was deleted, or merged into another ${kind === "invoice" ? "customer" : "vendor"}. The platform keeps its company and connection; end the connection there if it should not be used, and correct cross-references that name ${code}.`,
    ),
  };
}
