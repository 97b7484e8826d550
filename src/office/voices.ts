/**
 * What a group of the quarantine means, in two voices: to the person who keeps the books, and to the one who runs
 * fuelbridge. Decided by codes and counts, never by a sentence.
 */
import type { Kind } from "../core/kinds.ts";
import type { Action } from "./remedies.ts";

export interface Voiced {
  readonly code: string;
  readonly kind: Kind | null;
  readonly flow: string;
  /** Where the record is, and where it goes: `erp`, `platform`. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly cause: string;
  /** The document or documents that all wait for: `customer 000113`; null: it is another cause. */
  readonly awaited: string | null;
  readonly helps: readonly Action[];
  readonly lookup: { readonly table: string; readonly key: string } | null;
  /** Has the flow delivered nothing, and is all that it has of this group? */
  readonly isAll: boolean;
}

export interface Voices {
  /** `12 invoices wait for one product: ULSD-DYED.` */
  readonly title: string;
  readonly accountant: string;
  readonly operator: string;
}

export function voicesOf(group: Voiced): Voices {
  const { code, count, cause, lookup, flow, isAll } = group;
  const many = counted(count, group.kind);
  const awaited = lookup === null ? group.awaited : `one row of ${lookup.table}: ${lookup.key}`;
  const title =
    awaited === null
      ? `${many}: ${cause}`
      : `${many} ${count === 1 ? "waits" : "wait"} for ${awaited}`;
  const where = isAll
    ? `Everything that the flow "${flow}" has is refused alike: look at its configuration before the documents.`
    : `Other documents of the flow "${flow}" go through: it is these documents, not the configuration.`;
  return { title, accountant: forAccountant(group), operator: `${flow}, code ${code}. ${where}` };
}

function forAccountant({ code, lookup, helps, from, to, count }: Voiced): string {
  const [it, is] = count === 1 ? ["it", "is"] : ["they", "are"];
  if (lookup !== null)
    return (
      `Nobody has said yet what ${sideName(to)} calls ${lookup.key}. Add that row, then retry: ` +
      `${it} ${is} delivered as ${it} ${is}.`
    );
  const own = BY_CODE[code];
  if (own !== undefined) return own;
  if (helps.includes("wait"))
    return `Nothing is to be done now: ${it} ${count === 1 ? "goes" : "go"} out once what ${it} ${count === 1 ? "waits" : "wait"} for is there.`;
  if (helps.includes("link"))
    return `Nobody can tell whether ${sideName(to)} has ${count === 1 ? "it" : "them"}. Look there; then say whether ${it} arrived.`;
  if (helps.includes("correct"))
    return `Something is wrong in ${sideName(from)}. Correct it there; the corrected version is taken by itself.`;
  if (!helps.includes("retry"))
    return `${capital(sideName(to))} cannot be told this by machine. Do it there by hand, then close ${count === 1 ? "it" : "them"} here with a note.`;
  return `${capital(sideName(to))} did not take ${count === 1 ? "it" : "them"}. Do what is said below, then retry.`;
}

/** Where a sentence of its own says more. */
const BY_CODE: Readonly<Record<string, string>> = {
  "not-mapped":
    "What the other side calls it has not been filled in yet. Fill that cell, then retry: nothing was sent.",
  "credit-note":
    "The platform takes no credit notes. Enter the credit there by hand, then close it here with a note.",
  differs:
    "Both sides have it, with different values. Look which side is right; the next step says what to do then.",
  "partly-paid":
    "It is paid in part. The platform is told once it is paid in full; nothing is to be done now.",
  "amount-changed-after-posting":
    "The amount was changed after the document was delivered. Posted amounts are never overwritten: agree with the other side which one is right.",
  "needs-decision":
    "It was sent, and no answer came back. Look whether the other side has it: then say so here, or retry.",
  "number-taken":
    "The other side has another document under this number. Look which one is right before anything is sent again.",
};

const sideName = (side: string): string => (side === "platform" ? "the platform" : "the ERP");

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `12 invoices`, `1 delivery ticket` */
function counted(count: number, kind: string | null): string {
  const name = (kind ?? "document").replaceAll("-", " ");
  return `${count} ${count === 1 ? name : `${name}s`}`;
}
