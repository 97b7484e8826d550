/** The office of the running daemon, asked over its admin interface by Node's own HTTP: it is there at once. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { EnvironmentError } from "../core/errors.ts";
import { type Office, OfficeError } from "./office.ts";
import { Address, addressFile, type Question, Refusal } from "./wire.ts";

/** An import by name would load Node's whole fetch with it: a tenth of a second of computing at each start. */
const { request } = process.getBuiltinModule("node:http");

const PRESENCE_TIMEOUT_MS = 5000;
/** A place within the minute may take a minute to come free. */
const ANSWER_TIMEOUT_MS = 90_000;
/** A reconciliation asks for thousands of pages, 600 a minute; a copy is as large as the store. */
const LONG_TIMEOUT_MS = 3_600_000;
const LONG: ReadonlySet<Question> = new Set(["backup", "backfill"]);
/** It may wait for books that call us before (`reconcile.wait`, a day at most). */
const RECONCILE_TIMEOUT_MS = 24 * LONG_TIMEOUT_MS + LONG_TIMEOUT_MS;

/** Null when no daemon answers: there is no address, or what is at that port is not our daemon. */
export async function remoteOffice(stateFolder: string): Promise<Office | null> {
  const address = readAddress(stateFolder);
  return address !== null && (await answers(address)) ? officeAt(address) : null;
}

/** Of a daemon that answered just now ({@link holderOf}), and may be too busy to do so again. Null: it has no address. */
export function answeredOffice(stateFolder: string): Office | null {
  const address = readAddress(stateFolder);
  return address === null ? null : officeAt(address);
}

function officeAt(address: Address): Office {
  const ask = async (question: Question, ...args: unknown[]): Promise<never> =>
    (await call(address, question, args)) as never;
  return {
    status: () => ask("status"),
    budget: () => ask("budget"),
    admit: () => ask("admit"),
    toBook: () => ask("toBook"),
    notebook: (endpoint) => ask("notebook", endpoint),
    reconcileCost: (asked) => ask("reconcileCost", asked),
    reconcile: (asked) => ask("reconcile", asked),
    differences: () => ask("differences"),
    trace: (number) => ask("trace", number),
    samples: (asked) => ask("samples", asked),
    counterparts: (asked) => ask("counterparts", asked),
    quarantine: () => ask("quarantine"),
    quarantineShow: (group, limit, skip) => ask("quarantineShow", group, ...given(limit, skip)),
    retry: (selector, anyway, person) =>
      ask("retry", selector, ...given(anyway === true ? true : person && false, person)),
    resolve: (selector, decision) => ask("resolve", selector, decision),
    assign: (selector, assignment) => ask("assign", selector, assignment),
    remark: (selector, remark) => ask("remark", selector, remark),
    edit: (delivery, editing, person) => ask("edit", delivery, editing, person),
    audit: (asked) => ask("audit", asked),
    backup: () => ask("backup"),
    backfillCost: (asked) => ask("backfillCost", asked),
    backfill: (asked) => ask("backfill", asked),
    backfillBegin: (asked) => ask("backfillBegin", asked),
    backfills: () => ask("backfills"),
    auditHead: () => ask("auditHead"),
    checkAudit: (noted) => ask("checkAudit", noted),
    runNow: (flow, person) => ask("runNow", flow, ...given(person)),
    release: (breaker, by, note) => ask("release", breaker, by, ...given(note)),
    documents: (asked) => ask("documents", asked),
    document: (id) => ask("document", id),
    lately: () => ask("lately"),
    runs: () => ask("runs"),
    deeds: (before) => ask("deeds", before),
    pause: (flow, person) => ask("pause", flow, person),
    goOn: (flow, person) => ask("goOn", flow, person),
    acceptList: (flow, person) => ask("acceptList", flow, person),
    settleUnread: (flow, what, person) => ask("settleUnread", flow, what, person),
    tables: () => ask("tables"),
    addRow: (adding, person) => ask("addRow", adding, person),
    wasDone: (deed, person) => ask("wasDone", deed, person),
  };
}

/** Arguments that may be left out, without those at the end that are. */
function given(...args: readonly unknown[]): unknown[] {
  const last = args.findLastIndex((one) => one !== undefined);
  return args.slice(0, last + 1);
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
async function answers(address: Address): Promise<boolean> {
  try {
    const { status, body } = await exchange(address, "", null, PRESENCE_TIMEOUT_MS);
    return status === 200 && (body as { data?: { pid?: unknown } }).data?.pid === address.pid;
  } catch {
    return false;
  }
}

async function call(
  address: Address,
  question: Question,
  args: readonly unknown[],
): Promise<unknown> {
  const timeoutMs =
    question === "reconcile"
      ? RECONCILE_TIMEOUT_MS
      : LONG.has(question)
        ? LONG_TIMEOUT_MS
        : ANSWER_TIMEOUT_MS;
  const { status, body } = await exchange(address, `/${question}`, { args }, timeoutMs).catch(
    (cause: unknown) => {
      const next = "Ask again; if it does not answer, look at its log.";
      throw new EnvironmentError(
        `The daemon (process ${address.pid}) stopped answering.`,
        next,
        cause,
      );
    },
  );
  if (status === 200) return (body as { data: unknown }).data;
  const { kind, message, next } = Refusal.parse(body).error;
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
