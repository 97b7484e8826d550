/**
 * Secrets stand outside the configuration file: in a file of their own that only the service can read, or in its
 * environment. Schemas mark such fields, so a connector's are guarded like our own.
 */
import { statSync } from "node:fs";
import { z } from "zod";
import type { Complaint } from "./problems.ts";
import { SECRET_LENGTH_MIN } from "./scrub.ts";
import type { Substituted } from "./document.ts";

/** A setting that must not be readable by others. A connector may write `.meta({ secret: true })` itself. */
export const secret = (description: string): z.ZodString =>
  z.string().min(SECRET_LENGTH_MIN).meta({ secret: true, description });

/** A setting that may be left out: then it is null. */
export const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value ?? null);

/** What is wrong with where a secret comes from; never with the secret in it. */
export function complainOfSecret(made: Substituted | null): Complaint | null {
  const [reference, ...more] = made?.references ?? [];
  if (reference === undefined || more.length > 0 || made?.literal !== "")
    return { message: "a secret is written into the configuration itself", remedy: WHERE };
  if (reference.kind === "variable" || process.platform === "win32") return null;
  const mode = statSync(reference.path).mode & 0o777;
  if ((mode & 0o077) === 0) return null;
  return {
    message: `others can read the secret in ${reference.path} (mode ${mode.toString(8).padStart(4, "0")})`,
    remedy: `Is it a file for this secret alone, take it from them: chmod 0600 ${reference.path}. Whoever could read it may have: consider a new one. Else name such a file.`,
  };
}

const WHERE =
  "Put it into a file of mode 0600 and write ${file:secrets/NAME}, or into an environment variable and write " +
  "${NAME} (without a default). Then replace the one that was here: it may have been copied.";

/** A platform key anywhere in the file, in a comment too. */
export const PLATFORM_KEY = /\bsvc_(?:live|test)_[A-Za-z0-9]{8,}/g;
