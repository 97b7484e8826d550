/** The office of the running daemon, asked over its admin interface. A command that finds none loads no HTTP. */
import { readFileSync } from "node:fs";
import { EnvironmentError } from "../core/errors.ts";
import { type Office, OfficeError } from "../report/office.ts";
import { Address, addressFile, type Question, Refusal } from "./wire.ts";

const PRESENCE_TIMEOUT_MS = 5000;
/** A place within the minute may take a minute to come free. */
const ANSWER_TIMEOUT_MS = 90_000;
/** A reconciliation asks for thousands of pages, 600 a minute. */
const LONG_TIMEOUT_MS = 3_600_000;
const LONG: ReadonlySet<Question> = new Set(["reconcile"]);

/** Null when no daemon answers: there is no address, or what is at that port is not our daemon. */
export async function remoteOffice(stateFolder: string): Promise<Office | null> {
  const address = readAddress(stateFolder);
  if (address === null || !(await answers(address))) return null;
  const ask = async (question: Question, ...args: unknown[]): Promise<never> =>
    (await call(address, question, args)) as never;
  return {
    status: () => ask("status"),
    budget: () => ask("budget"),
    admit: () => ask("admit"),
    toBook: () => ask("toBook"),
    reconcileCost: (asked) => ask("reconcileCost", asked),
    reconcile: (asked) => ask("reconcile", asked),
    differences: () => ask("differences"),
    trace: (number) => ask("trace", number),
    samples: (asked) => ask("samples", asked),
    counterparts: (asked) => ask("counterparts", asked),
    quarantine: () => ask("quarantine"),
    quarantineShow: (group) => ask("quarantineShow", group),
    retry: (selector, anyway) => ask("retry", selector, ...(anyway === true ? [true] : [])),
    resolve: (selector, decision) => ask("resolve", selector, decision),
    runNow: (flow) => ask("runNow", flow),
    release: (breaker, by) => ask("release", breaker, by),
  };
}

/** The process that answers for this store; null when none does. */
export async function holderOf(stateFolder: string): Promise<number | null> {
  const address = readAddress(stateFolder);
  return address !== null && (await answers(address)) ? address.pid : null;
}

function readAddress(stateFolder: string): Address | null {
  try {
    return Address.parse(JSON.parse(readFileSync(addressFile(stateFolder), "utf8")));
  } catch {
    return null;
  }
}

/** Only our daemon accepts the token and knows its process. */
async function answers({ port, token, pid }: Address): Promise<boolean> {
  try {
    const { fetch } = await import("undici");
    const response = await fetch(`http://127.0.0.1:${port}/office`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(PRESENCE_TIMEOUT_MS),
    });
    const body = (await response.json()) as { data?: { pid?: unknown } };
    return response.ok && body.data?.pid === pid;
  } catch {
    return false;
  }
}

async function call(
  address: Address,
  question: Question,
  args: readonly unknown[],
): Promise<unknown> {
  const response = await post(address, question, args).catch((cause: unknown) => {
    const next = "Ask again; if it does not answer, look at its log.";
    throw new EnvironmentError(
      `The daemon (process ${address.pid}) stopped answering.`,
      next,
      cause,
    );
  });
  const body = (await response.json()) as { data: unknown };
  if (response.ok) return body.data;
  const { kind, message, next } = Refusal.parse(body).error;
  if (kind === "office") throw new OfficeError(message, next);
  throw new EnvironmentError(`The daemon says: ${message}`, next);
}

async function post({ port, token }: Address, question: Question, args: readonly unknown[]) {
  const { Agent, fetch } = await import("undici");
  return fetch(`http://127.0.0.1:${port}/office/${question}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ args }),
    redirect: "error",
    signal: AbortSignal.timeout(LONG.has(question) ? LONG_TIMEOUT_MS : ANSWER_TIMEOUT_MS),
    // The signal alone limits how long an answer may take.
    dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }),
  });
}
