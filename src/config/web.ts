/** `console.web`: where people with a browser find the console, and what that needs. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { isGroup } from "./document.ts";
import { valueAt } from "./issues.ts";
import type { Complaint } from "./problems.ts";

const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

export const webSchema = z
  .strictObject({
    port: z.int().min(0).max(65_535).describe("The console's port, 0 for any free one."),
    host: z
      .string()
      .min(1)
      .default("127.0.0.1")
      .describe(
        "The address of this machine that it listens on, by default 127.0.0.1: only this machine. Any other needs certificate, key, names and a user.",
      ),
    names: z
      .array(z.string().regex(NAME))
      .default([])
      .describe("What browsers call this machine: lower-case host names, without a port."),
    certificate: z
      .string()
      .min(1)
      .optional()
      .describe("The file of the TLS certificate with its chain, PEM."),
    key: z.string().min(1).optional().describe("The file of the certificate's key, PEM."),
    proxies: z
      .array(z.union([z.ipv4(), z.ipv6()]))
      .default([])
      .describe(
        "The addresses of proxies of your own. Of what comes from them, X-Forwarded-For says who asked; from others it counts for nothing.",
      ),
  })
  .describe("The console for people with a browser. Left out: there is none.");

/** The console for people with a browser (`console.web`). */
export interface WebConfig {
  /** 0 takes a free one. */
  readonly port: number;
  /** An address of this machine: by default the loopback address. */
  readonly host: string;
  /** What browsers call this machine, beside the loopback address. */
  readonly names: readonly string[];
  /** Files of a certificate with its chain, and of its key, absolute; null: HTTP, on the loopback address alone. */
  readonly tls: { readonly certificate: string; readonly key: string } | null;
  /** Addresses whose X-Forwarded-For counts. */
  readonly proxies: readonly string[];
}

export function webOf(
  settings: z.output<typeof webSchema> | undefined,
  folder: string,
): WebConfig | null {
  if (settings === undefined) return null;
  const { port, host, names, certificate, key, proxies } = settings;
  const hasTls = certificate !== undefined && key !== undefined;
  return {
    port,
    host: host === "localhost" ? "127.0.0.1" : host,
    names,
    tls: hasTls ? { certificate: resolve(folder, certificate), key: resolve(folder, key) } : null,
    proxies,
  };
}

const WEB = ["console", "web"];

type Told = Complaint & { readonly setting: readonly string[] };

/** `folder`: where relative paths start, to look at this machine too; null: only what the file says. */
export function* complaintsOfWeb(root: unknown, folder: string | null): Generator<Told> {
  const web = valueAt(root, WEB);
  if (!isGroup(web)) return;
  const written = valueAt(root, ["state"]);
  const state = folder === null || typeof written !== "string" ? null : resolve(folder, written);
  const { host = "127.0.0.1", names, certificate, key } = web;
  if ((certificate === undefined) !== (key === undefined))
    yield {
      setting: [...WEB, certificate === undefined ? "key" : "certificate"],
      message: "certificate and key belong together",
      remedy: "Name both files, or neither.",
    };
  if (typeof host !== "string" || LOOPBACK.has(host)) return;
  if (certificate === undefined && key === undefined)
    yield {
      setting: [...WEB, "host"],
      message: "other machines can reach this address, and nothing is encrypted",
      remedy: "Name certificate and key, or leave host out: then only this machine can reach it.",
    };
  if (!Array.isArray(names) || names.length === 0)
    yield {
      setting: [...WEB, "host"],
      message: "other machines can reach this address, and nobody has said under which name",
      remedy:
        "List under names what browsers call this machine: requests under others are refused.",
    };
  if (state !== null && !hasUser(state))
    yield {
      setting: [...WEB, "host"],
      message: "other machines can reach this address, and nobody can log in yet",
      remedy: "Add somebody: fuelbridge user add NAME --role operator",
    };
}

/** A look only: the console itself reads the file by its whole shape (src/web/users.ts). */
function hasUser(state: string): boolean {
  const path = join(state, "users.json");
  try {
    const { users } = JSON.parse(existsSync(path) ? readFileSync(path, "utf8") : "{}") as {
      users?: unknown;
    };
    return Array.isArray(users) && users.length > 0;
  } catch {
    return false;
  }
}
