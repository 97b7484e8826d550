/** Sources and sinks of the format `x12`, as the configuration has them. */
import { z } from "zod";
import { repeated } from "../../src/core/company.ts";
import { distinctEndings, folders, origin, Pattern, target } from "./place.ts";
import { X12Options } from "../../src/formats/x12/config.ts";

const HOUR_MS = 3_600_000;
const UNITS = { h: HOUR_MS, d: 24 * HOUR_MS } as const;

export const X12Source = z
  .strictObject({
    format: z.literal("x12"),
    layout: z
      .enum(["books.invoices", "books.prices", "books.paidInvoices"])
      .describe("What the sets become: 810 invoices, 832 prices, 820 invoices that were paid."),
    ...origin,
    pick: Pattern.describe("Which files of the folder, one * allowed."),
    x12: X12Options,
    replies: z
      .strictObject({ folder: target.folder, staging: target.staging })
      .optional()
      .describe("Where a 997 is written for each group that was read; left out: none is."),
  })
  .refine(({ layout, x12 }) => layout !== "books.invoices" || x12.ourCode !== undefined, {
    message: "is missing: only invoices that our company issued are taken, and this names it",
    path: ["x12", "ourCode"],
  });
export type X12Source = z.infer<typeof X12Source>;

export const X12Sink = z
  .strictObject({
    format: z.literal("x12"),
    document: z
      .enum(["customer-invoices", "orders"])
      .describe("What is written: invoices as 810, orders as 850."),
    ...target,
    x12: X12Options,
    per: z.enum(["document", "batch"]).default("document").describe("What one interchange holds."),
    itemsMax: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe("Documents in one interchange of a batch."),
    acknowledgements: z
      .strictObject({ ...folders, pick: Pattern })
      .refine(...distinctEndings)
      .optional()
      .describe(
        "Where files of nothing but 997 come from the partner. Left out: they come with the files of the endpoint's x12 sources, or not at all.",
      ),
    acknowledgeWithin: z
      .union([z.literal("never"), z.string().regex(/^\d{1,4}[hd]$/)])
      .default("24h")
      .transform((text) =>
        text === "never" ? null : Number(text.slice(0, -1)) * UNITS[text.slice(-1) as "h" | "d"],
      )
      .describe(
        "A document that the partner has not acknowledged so long after it was sent is work for a person: such as 24h or 3d. never: acknowledgements are not awaited.",
      ),
    timeZone: repeated("timeZone"),
  })
  .refine(({ per, itemsMax }) => per === "batch" || (itemsMax ?? 1) === 1, {
    message: "more than one document in a file needs per: batch",
    path: ["itemsMax"],
  });
export type X12Sink = z.infer<typeof X12Sink>;
