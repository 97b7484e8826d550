/** A document under a number that QuickBooks may have given away already (6140). */
import { LedgerError, type Call } from "../../src/ledger/port.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Online } from "./online.ts";
import { DocumentRow } from "./rows.ts";
import { having } from "./tables.ts";
import type { Entity } from "./wire.ts";

/** `counts`: the number is taken. `of-another`: another party's, which is no clash. `ended`: it is as if it were not there. */
export type Holder = "counts" | "of-another" | "ended";

/**
 * Writes it; its id. A number that a document of the same entity has, and that counts, is the floor's to tell: it is told
 * as QuickBooks told it. One that another entity has is not found by a look, so it is refused, or taken twice where the
 * site allows it. @throws Refused, LedgerError
 */
export async function writeNumbered(
  { wire, config }: Pick<Online, "wire" | "config">,
  entity: Entity,
  { number, body }: { readonly number: string; readonly body: object },
  call: Call,
  holds: (row: DocumentRow) => Holder,
): Promise<string> {
  try {
    return await wire.write(entity, body, call);
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== "6140") throw error;
    const rows = await having(wire, entity, DocumentRow, { DocNumber: [number] }, call.signal);
    const holders = rows.map(holds).filter((one) => one !== "ended");
    if (holders.includes("counts")) throw error;
    if (holders.length > 0 || config.duplicateNumbers === "allow")
      return await wire.write(entity, body, call, { twice: true });
    throw new Refused({
      code: "number-in-use",
      message: `another document in QuickBooks has the number ${number}`,
      next: "An accountant gives that one another number, or set duplicateNumbers: allow; then retry.",
      field: "number",
    });
  }
}
