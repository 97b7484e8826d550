/** The office of the running daemon, asked over its interface by Node's own HTTP: it is there at once. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { EnvironmentError, OfficeError } from "../core/errors.ts";
import type { Office, QuestionName } from "./questions.ts";
import { HOUR_MS } from "../core/time.ts";

/** An import by name would load Node's whole fetch with it: a tenth of a second of computing at each start. */
const { request } = process.getBuiltinModule("node:http");

/** `admin.json` in the state folder: only who may read the store can talk to the daemon. */
export interface Address {
  readonly port: number;
  readonly token: string;
  readonly pid: number;
}

/** Whose a store is, as the process says that has it. */
export interface HeldBy {
  readonly company: string;
  readonly environment: string;
}

export const addressFile = (stateFolder: string): string => join(stateFolder, "admin.json");

/** `office`: an OfficeError. `failure`: anything else, in words. */
export interface Refusal {
  readonly error: {
    readonly kind: "office" | "failure";
    readonly code: string;
    readonly message: string;
    readonly next: string;
  };
}

const PRESENCE_TIMEOUT_MS = 5000;
/** A place within the minute may take a minute to come free. */
const ANSWER_TIMEOUT_MS = 90_000;
const TIMEOUTS_MS: Partial<Record<QuestionName, number>> = {
  // A copy is as large as the store.
  backup: HOUR_MS,
  // It asks for thousands of pages, 600 a minute.
  backfill: HOUR_MS,
  // The same, and it may wait for books that call us before (`reconcile.wait`, a day at most).
  reconcile: 25 * HOUR_MS,
};

/** Null when no daemon answers: there is no address, or what is at that port is not our daemon. */
export async function remoteOffice(stateFolder: string): Promise<Office | null> {
  const address = readAddress(stateFolder);
  return address !== null && (await presence(address)) !== null ? officeAt(address) : null;
}

/** Of a daemon that answered just now ({@link holderOf}), and may be too busy to do so again. Null: it has no address. */
export function answeredOffice(stateFolder: string): Office | null {
  const address = readAddress(stateFolder);
  return address === null ? null : officeAt(address);
}

/** Every question of the table, by its name. */
const officeAt = (address: Address): Office =>
  new Proxy({} as Office, {
    // What is awaited is asked for `then`.
    get: (_, name) =>
      name === "then"
        ? undefined
        : (...args: unknown[]) => call(address, name as QuestionName, given(args)),
  });

/** Arguments that may be left out, without those at the end that are; one in between is null in JSON. */
function given(args: readonly unknown[]): unknown[] {
  const last = args.findLastIndex((one) => one !== undefined);
  return args.slice(0, last + 1);
}

/** The process that answers for this store; null when none does. */
export async function holderOf(stateFolder: string): Promise<number | null> {
  const address = readAddress(stateFolder);
  return address !== null && (await presence(address)) !== null ? address.pid : null;
}

/** Whose store the process has that answers for it; null when none does: nobody else can look into it meanwhile. */
export async function heldBy(stateFolder: string): Promise<HeldBy | null> {
  const address = readAddress(stateFolder);
  return address === null ? null : ((await presence(address))?.owner ?? null);
}

function readAddress(stateFolder: string): Address | null {
  try {
    const { port, token, pid } = JSON.parse(
      readFileSync(addressFile(stateFolder), "utf8"),
    ) as Partial<Address>;
    const isPort = Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
    if (!isPort || typeof token !== "string" || token === "" || !Number.isInteger(pid)) return null;
    return { port: Number(port), token, pid: Number(pid) };
  } catch {
    return null;
  }
}

/** Only our daemon accepts the token and knows its process. */
async function presence(address: Address): Promise<{ readonly owner?: HeldBy } | null> {
  try {
    const { status, body } = await exchange(address, "", null, PRESENCE_TIMEOUT_MS);
    const { data } = body as { data?: { pid?: unknown; owner?: HeldBy } };
    return status === 200 && data?.pid === address.pid ? data : null;
  } catch {
    return null;
  }
}

async function call(
  address: Address,
  question: QuestionName,
  args: readonly unknown[],
): Promise<unknown> {
  const timeoutMs = TIMEOUTS_MS[question] ?? ANSWER_TIMEOUT_MS;
  const { status, body } = await exchange(address, `/${question}`, { args }, timeoutMs).catch(
    (cause: unknown) => {
      const next = "Ask again; if it does not answer, look at its log.";
      const message = `The daemon (process ${address.pid}) stopped answering.`;
      throw new EnvironmentError(message, next, cause);
    },
  );
  if (status === 200) return (body as { data: unknown }).data;
  const { kind, message, next } = (body as Refusal).error;
  if (kind === "office") throw new OfficeError(message, next);
  throw new EnvironmentError(`The daemon says: ${message}`, next);
}

/** POST with a question, GET without. The signal alone limits how long the answer may take. */
async function exchange(
  { port, token }: Address,
  path: string,
  question: object | null,
  timeoutMs: number,
): Promise<{ status: number | undefined; body: unknown }> {
  const asked = request({
    host: "127.0.0.1",
    port,
    path: `/office${path}`,
    method: question === null ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${token}`,
      ...(question === null ? {} : { "content-type": "application/json" }),
    },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  });
  // A connection that ends within the answer is told by the answer.
  asked.on("error", () => {});
  asked.end(question === null ? undefined : JSON.stringify(question));
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await json(answer) };
}
