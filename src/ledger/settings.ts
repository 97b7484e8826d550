/** Settings that the connectors of books have in common. */
import { z } from "zod";
import { duration, faultOfAddress, ruled } from "../core/settings.ts";

/** Of a server, without a slash at its end. */
export const address = (what: string) =>
  ruled(faultOfAddress)
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

/** ms. Of books that call us. */
export const expectEvery = duration(
  "How long the books may stay silent (74h where their machine is off over the weekend) before that is told in status, doctor and alerts",
).prefault("26h");

/** ms. */
export const settleAfter = duration(
  "Where a flow brings payments: how long an invoice that is paid on the platform waits for them before it is " +
    "settled as one, where none came (longer than the interval at which payments are read; 0s is at once)",
).prefault("26h");

/** How long calls and documents are waited for. @param deadline of one call, and why @param running what may still run then */
export const waiting = (
  deadline: Parameters<typeof deadlineMs>,
  ...running: Parameters<typeof settleMs>
) => ({
  settleAfter,
  deadlineMs: deadlineMs(...deadline),
  settleMs: settleMs(...running),
});

/** Accounts of lines that name none. */
export const lineAccounts = z.strictObject({
  revenue: code("Invoice lines that name no account."),
  expense: code("Bill lines that name no account."),
});
