/** What is made of the segments of an IDoc. */
import type { Fault } from "../../core/fault.ts";
import type { Idoc } from "./xml.ts";

/** What was read of one record: itself, or why it cannot be taken; null: it is rightly left out, as `why` says. */
export type Taken =
  | { readonly id: string; readonly record: object }
  | { readonly id: string; readonly fault: Fault; readonly raw: unknown }
  | { readonly id: null; readonly why: string };

export type TakenFrom = (idoc: Idoc) => readonly Taken[];

export const NEXT = "Have it corrected in SAP, and sent again; or correct this source's settings.";

export const badField = (at: string, message: string): Fault => ({
  code: "bad-field",
  message: `${at} ${message}.`,
  next: NEXT,
  field: at,
});
