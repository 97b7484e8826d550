/**
 * Tryton's JSON-RPC: one call is one transaction of its database. A session is opened with the first call and again
 * when Tryton has ended it; what a failed call proves is its {@link TrytonError}.
 */
import type { Surroundings } from "../../src/core/contract.ts";
import { openRpc, type RpcFaults } from "../../src/transport/rpc.ts";
import { openSessions } from "../../src/transport/session.ts";
import {
  type FaultKind,
  faultOfError,
  faultOfStatus,
  NoSuchCompany,
  TrytonError,
} from "./errors.ts";
import { type Release, releaseOf, VERSION_PATHS } from "./release.ts";
import { idLists } from "./rows.ts";
import { type Caller, type Context, type Identity, idsOf, rowOf, where } from "./search.ts";
import { decode, encode } from "./values.ts";

export { TrytonError };

export interface TrytonOptions {
  /** `http://127.0.0.1:8000`, without the database. */
  readonly url: string;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** The company of the books, by its name; left out: the user's own. */
  readonly company?: string;
  /** For one call and its whole answer; 120 s when left out (a post of many computes for long). */
  readonly deadlineMs?: number;
}

export interface Tryton extends Caller {
  /** @throws TrytonError */
  session(): Promise<Identity>;
  /** Which Tryton it is: asked with each login. @throws TrytonError */
  release(): Promise<Release>;
  /** Logs out. */
  close(): Promise<void>;
}

interface Session {
  readonly ask: Ask;
  readonly release: Release;
  readonly user: number;
  readonly authorization: string;
  readonly context: Context;
}

/** The call has not run, and a new login may help. */
const NO_SESSION: readonly FaultKind[] = ["unauthorised", "absent"];
const DEADLINE_MS = 120_000;
/** A session that is left open ends by itself. */
const LOGOUT_MS = 5_000;

export function openTryton(
  options: TrytonOptions,
  surroundings: Pick<Surroundings, "note" | "now">,
): Tryton {
  // One at a time: Tryton computes in one process, and two that post at once only lock each other out of the number
  // sequence. No connection is used twice (trytond closes each).
  const rpc = openRpc(
    {
      url: options.url,
      deadlineMs: options.deadlineMs ?? DEADLINE_MS,
      headers: { accept: "application/json", "accept-encoding": "identity" },
      reset: true,
    },
    { encode, decode },
    FAULTS,
  );
  let closed: Promise<void> | null = null;

  const askAt =
    (path: string): Ask =>
    (method, params, { authorization, signal }) =>
      rpc.call(path, method, params, authorization === null ? {} : { authorization }, signal);

  const sessions = openSessions<Session>({
    logIn: () => logIn(askAt, options),
    isEnded: (error) => error instanceof TrytonError && NO_SESSION.includes(error.kind),
    waitMsOf: (error) => (error instanceof TrytonError ? error.waitMs : null),
    waiting: (error, waitMs) => new TrytonError("throttled", (error as Error).message, { waitMs }),
    ended: () => surroundings.note("Tryton ended our session", { database: options.database }),
    now: () => surroundings.now(),
  });

  async function close(): Promise<void> {
    const open = await sessions.leave();
    const signal = AbortSignal.timeout(LOGOUT_MS);
    if (open) await open.ask("common.db.logout", [], { ...open, signal }).catch(() => {});
    await rpc.close();
  }

  return {
    call: <T>(
      method: string,
      params: readonly unknown[],
      { context = {}, signal }: { context?: Context; signal?: AbortSignal } = {},
    ) =>
      sessions.within(({ ask, authorization, context: own }) =>
        ask(method, [...params, { ...own, ...context }], { authorization, signal }),
      ) as Promise<T>,
    async session() {
      const { user, context } = await sessions.current();
      return { user, company: (context["company"] as number | undefined) ?? null };
    },
    release: async () => (await sessions.current()).release,
    close: () => (closed ??= close()),
  };
}

type Ask = (
  method: string,
  params: readonly unknown[],
  how: { readonly authorization: string | null; readonly signal?: AbortSignal | undefined },
) => Promise<unknown>;

/** @throws TrytonError; never `torn` or `server`, for the call that wanted a session has not been made */
async function logIn(askAt: (path: string) => Ask, options: TrytonOptions): Promise<Session> {
  try {
    const { database, user, password, company } = options;
    const release = await releaseAt(askAt);
    const ask = askAt(release.pathOf(database));
    const answer = await ask("common.db.login", [user, { password }, LANGUAGE], {
      authorization: null,
    }).catch((error: unknown) => {
      if (!(error instanceof TrytonError && error.kind === "absent")) throw error;
      throw new TrytonError("not-sent", `${error.message}: Tryton has no database "${database}"`);
    });
    const [id, key] = answer as [number, string];
    const authorization = `Session ${Buffer.from(`${user}:${id}:${key}`).toString("base64")}`;
    const preferences = await ask("model.res.user.get_preferences", [true, {}], { authorization });
    const context = contextOf(preferences as Context);
    const session = { ask, release, user: id, authorization, context };
    if (company === undefined) return session;
    const its = await companyOf(session, company, user);
    return { ...session, context: { ...context, company: its } };
  } catch (error) {
    if (error instanceof TrytonError && UNASKED.includes(error.kind))
      throw new TrytonError("not-sent", error.message);
    throw error;
  }
}

const UNASKED: readonly FaultKind[] = ["torn", "server", "absent"];

/** A path that a release does not have answers 4xx: older ones take the first for a database that wants a login. */
async function releaseAt(askAt: (path: string) => Ask): Promise<Release> {
  let fault: unknown;
  for (const path of VERSION_PATHS) {
    try {
      const version = await askAt(path)("common.server.version", [], { authorization: null });
      return releaseOf(String(version));
    } catch (error) {
      const other = error instanceof TrytonError && ELSEWHERE.includes(error.kind);
      if (!other) throw error;
      fault = error;
    }
  }
  throw fault;
}

const ELSEWHERE: readonly FaultKind[] = ["unauthorised", "forbidden", "absent"];

/** Only a company that the user is in: Tryton would take any, and then refuse every record. */
async function companyOf(
  { ask, user, authorization, context }: Session,
  name: string,
  login: string,
): Promise<number> {
  const tryton = {
    call: async <T>(method: string, params: readonly unknown[]): Promise<T> =>
      (await ask(method, [...params, context], { authorization })) as T,
  };
  const { companies } = await rowOf({ tryton }, "res.user", user, idLists("companies"));
  const domain = where({ "id in": companies, "party.name =": name });
  const [id, another] = await idsOf({ tryton }, "company.company", domain, { most: 2 });
  if (id !== undefined && another === undefined) return id;
  const many = id === undefined ? "no" : "more than one";
  throw new NoSuchCompany(`Tryton has ${many} company "${name}" for the user ${login}`);
}

/** Its sentences are compared and shown: they stay in one language. */
const LANGUAGE = "en";

/** Of the preferences those that calls depend on; the rest is for clients that show them. */
function contextOf({ company, employee }: Context): Context {
  return {
    ...(company === undefined ? {} : { company }),
    ...(employee === undefined ? {} : { employee }),
    language: LANGUAGE,
  };
}

const FAULTS: RpcFaults = {
  ofTransport: (method, { phase, message }) => new TrytonError(phase, `${method}: ${message}`),
  ofStatus: faultOfStatus,
  ofError: faultOfError,
  ofOther: (method) => new TrytonError("torn", `${method}: the answer is no answer of Tryton's`),
};
