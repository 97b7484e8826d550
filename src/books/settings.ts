/** Settings that the connectors of books have in common. */
import { z } from "zod";
import { faultOfAddress } from "../core/address.ts";

/** Of a server, without a slash at its end. */
export const address = (what: string) =>
  z
    .string()
    .superRefine((text, context) => {
      const message = faultOfAddress(text);
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .transform((text) => text.replace(/\/+$/, ""))
    .describe(what);

/** A setting that may be a reference to a file or a variable, and is never shown. */
export const secret = (what: string) =>
  z
    .string()
    .min(8)
    .meta({ secret: true })
    .describe(`${what}: \${file:PATH} of a file with mode 0600, or \${VARIABLE}.`);

/** How long one call may take, ms. @param why of its length */
export const deadlineMs = (usual: number, why = "", least = 1_000) =>
  z.int().min(least).max(600_000).default(usual).describe(`How long one call may take${why}.`);

/** How long a call that was given up may still be running at the other end, ms. */
export const settleMs = (usual: number, what: string) =>
  z.int().min(0).max(3_600_000).default(usual).describe(what);

export const posting = z
  .enum(["draft", "post"])
  .default("post")
  .describe("post: invoices are posted; draft: a person posts them.");

export const batch = z
  .int()
  .min(1)
  .max(100)
  .default(20)
  .describe("Documents that one call may carry.");

/** A party, an account and whatever else people name by a code. */
export const code = (what: string) => z.string().min(1).max(80).describe(what);

/** Written as `26h`; ms. */
const duration = z
  .string()
  .regex(/^\d{1,4}[smhd]$/, "is not a duration such as 26h")
  .transform((text) => Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0));

/** ms. Of books that call us. */
export const expectEvery = duration
  .prefault("26h")
  .describe(
    "How long the books may stay silent before that is told in status, doctor and alerts. 74h where their machine is off over the weekend.",
  );

/** ms. */
export const settleAfter = duration
  .prefault("26h")
  .describe(
    "How long an invoice that is paid on the platform waits for its payments, where a flow brings them; then the " +
      "rest is settled as one. Longer than the interval at which payments are read; 0s: at once.",
  );

/** Milliseconds. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
