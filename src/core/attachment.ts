/**
 * The PDF of a document that was delivered, on its way to the booked document (ADR 0020): a document of its own, with its
 * own record, delivery, request and link. What is frozen names the document and not the bytes.
 */
import { z } from "zod";
import type { Mapping } from "./contract.ts";
import { stringifyExact } from "./json.ts";
import { type Kind, kinds } from "./kinds.ts";

/** One per document and id that the books give it: a ticket that moves on gets another id, and another PDF. */
export const AttachmentDocument = z.object({
  /** The platform's id of the document whose PDF it is. */
  id: z.string().min(1),
  /** Its number, as people know it. */
  number: z.string().min(1),
  /** What the books call the booked document. */
  counterpart: z.string().min(1),
});
export type AttachmentDocument = z.infer<typeof AttachmentDocument>;

/** The record of an attachment as the store keeps it. The same document gives the same text. */
export const attachmentText = ({ id, number, counterpart }: AttachmentDocument): string =>
  stringifyExact({ id, number, counterpart });

/** What attachments of a kind are called in links. Null: documents of this kind have none. */
export function attachmentKind(kind: Kind): Kind | null {
  const name = `${kind}-pdf`;
  return Object.hasOwn(kinds, name) ? (name as Kind) : null;
}

/**
 * The mapping of attachments to documents of `parent`. One whose document is not linked (books that were restored lost it)
 * waits for that, and is attached to what the books have by then.
 */
export const attachmentMapping = (
  kind: Kind,
  parent: Kind,
): Mapping<AttachmentDocument, AttachmentDocument> => ({
  name: `attach/${parent}`,
  kind,
  input: AttachmentDocument,
  output: AttachmentDocument,
  number: ({ number }) => number,
  map: (record, references) => ({
    ...record,
    counterpart: references.counterpart(parent, record.id),
  }),
  figures: () => ({ amount: null, gallons: null }),
});

/** When nobody says how long: each try is a line in the document's story. */
const WAIT_MS = 600_000;

/** A PDF could not be fetched. Nothing was changed anywhere. */
export class NoFile extends Error {
  /**
   * `passing`: the platform answers nobody just now (limits, credentials, network), and the failure does not count.
   * `failed`: this file was refused or broken, and it is tried again. `never`: another try would end the same way.
   */
  readonly sort: "passing" | "failed" | "never";
  /** With `passing`: how long to wait, ms. */
  readonly waitMs: number;

  constructor(sort: NoFile["sort"], message: string, waitMs = WAIT_MS) {
    super(message);
    this.name = "NoFile";
    this.sort = sort;
    this.waitMs = waitMs;
  }
}
