/** What W1 to W6 and the readings beside them ask for, as a pure model: what a write must answer, and what it leaves. */

const SECOND = 1_000;
const HOLD_MS = 60 * SECOND;
const DAY_MS = 24 * 3600 * SECOND;

export interface Write {
  readonly company: "supplier" | "customer";
  readonly path: "/invoices" | "/delivery-tickets";
  readonly key: string;
  /** Both paths take A and B, and neither takes the other one. */
  readonly body: "A" | "B" | "wrong";
}

export interface Fault {
  readonly kind: "status" | "reset" | "truncate" | "garbage" | "delay";
  readonly status?: number;
  readonly when?: "before" | "after";
  readonly path?: Write["path"];
  readonly key?: Write["company"];
  readonly times: number;
}

interface Entry {
  readonly write: Write;
  readonly state: "running" | "done" | "held";
  readonly arrived: number;
  /** Of a key that is held. */
  readonly until: number;
  /** The answer on record, once somebody has seen it. */
  readonly text: string | null;
}

export interface Model {
  readonly now: number;
  /** By company and key. */
  readonly entries: Readonly<Record<string, Entry>>;
  readonly faults: readonly Fault[];
  /** The delayed writes, oldest first. */
  readonly parked: readonly Write[];
  /** How many records of a company, path and body exist. */
  readonly written: Readonly<Record<string, number>>;
}

export const begun = (now: number): Model => ({
  now,
  entries: {},
  faults: [],
  parked: [],
  written: {},
});

/** What a client may see. A torn connection has no status, half an answer no text. */
export interface Seen {
  readonly status: number | null;
  readonly text: string | null;
  readonly replayed: boolean;
  readonly retryAfter: string | null;
}

export interface Expected {
  readonly status: number | null;
  /** "any" JSON, "half" of some, what is "garbage", or this very text. */
  readonly text: "any" | "half" | "garbage" | { readonly is: string };
  readonly code?: string;
  readonly replayed?: boolean;
  readonly retryAfter?: number;
}

interface Step {
  /** Null: the write is in flight now, and its client waits. */
  readonly expected: Expected | null;
  readonly after: (seen: Seen) => Model;
}

export function send(model: Model, write: Write): Step {
  if (write.key === "") return refusal(model, 400, "IDEMPOTENCY_KEY_REQUIRED");
  if (write.key.length < 16) return refusal(model, 400, "VALIDATION_ERROR");
  const entry = model.entries[slotOf(write)];
  return entry !== undefined && isTaken(entry, model.now)
    ? meet(model, entry, write)
    : arrive(model, write);
}

/** The oldest delayed write goes on. */
export function release(model: Model): Step {
  const [write, ...parked] = model.parked as [Write, ...Write[]];
  const { arrived } = model.entries[slotOf(write)] as Entry;
  return carryOut({ ...model, parked }, write, arrived);
}

/** What was in flight has an unknown outcome (W5). */
export function crash(model: Model): Model {
  const unknown = model.parked.map((write) => {
    const { arrived } = model.entries[slotOf(write)] as Entry;
    const until = Math.min(model.now + HOLD_MS, arrived + DAY_MS);
    return [slotOf(write), { write, state: "held", arrived, until, text: null }] as const;
  });
  return { ...model, parked: [], entries: { ...model.entries, ...Object.fromEntries(unknown) } };
}

export function fits(expected: Expected, seen: Seen): boolean {
  const { status, text, code, replayed = false, retryAfter } = expected;
  if (seen.status !== status) return false;
  if (status === null) return true;
  if (text === "half") return seen.text === null;
  if (seen.text === null || seen.replayed !== replayed) return false;
  if ((retryAfter === undefined ? null : String(retryAfter)) !== seen.retryAfter) return false;
  if (typeof text === "object") return text.is === seen.text;
  const json = parsed(seen.text);
  if (text === "garbage") return json === null;
  return json !== null && (code === undefined || json.error?.code === code);
}

const slotOf = ({ company, key }: Write): string => `${company} ${key}`;
export const recordOf = ({ company, path, body }: Write): string => `${company} ${path} ${body}`;

const isTaken = ({ state, arrived, until }: Entry, now: number): boolean =>
  state === "running" || (now < arrived + DAY_MS && (state === "done" || now < until));

/** W2 to W5: somebody has been here with this key. */
function meet(model: Model, entry: Entry, write: Write): Step {
  const { state, text } = entry;
  const left = Math.max(1, Math.ceil((entry.until - model.now) / SECOND));
  const wait = state === "done" ? {} : { retryAfter: state === "running" ? 1 : left };
  if (recordOf(entry.write) !== recordOf(write))
    return refusal(model, 409, "IDEMPOTENCY_KEY_CONFLICT", wait);
  if (state === "running") return refusal(model, 409, "IDEMPOTENCY_IN_FLIGHT", wait);
  if (state === "held") return refusal(model, 409, "IDEMPOTENCY_OUTCOME_UNKNOWN", wait);
  return {
    expected: { status: 201, text: text === null ? "any" : { is: text }, replayed: true },
    after: (seen) => set(model, write, { ...entry, text: seen.text }),
  };
}

/** The key is free: the write runs, or what a fault makes of it. */
function arrive(before: Model, write: Write): Step {
  const fault = before.faults.find(
    ({ path = write.path, key = write.company }) => path === write.path && key === write.company,
  );
  const model = { ...before, faults: used(before.faults, fault) };
  const { now } = model;
  const ran = carryOut(model, write, now);
  switch (fault?.kind) {
    case undefined:
      return ran;
    case "delay":
      return {
        expected: null,
        after: () =>
          set({ ...model, parked: [...model.parked, write] }, write, {
            write,
            state: "running",
            arrived: now,
            until: 0,
            text: null,
          }),
      };
    case "status":
      return failed(fault.when === "after" ? ran.after(UNSEEN) : model, write, fault.status ?? 500);
    case "reset": {
      const after = fault.when === "after" ? ran.after(UNSEEN) : free(model, write);
      return { expected: { status: null, text: "any" }, after: () => after };
    }
    case "truncate":
      return {
        expected: { status: write.body === "wrong" ? 400 : 201, text: "half" },
        after: () => ran.after(UNSEEN),
      };
    case "garbage":
      return { expected: { status: 200, text: "garbage" }, after: () => ran.after(UNSEEN) };
  }
}

/** Without a fault, or in spite of one. */
function carryOut(model: Model, write: Write, arrived: number): Step {
  if (write.body === "wrong")
    return {
      expected: { status: 400, text: "any", code: "VALIDATION_ERROR" },
      after: () => free(model, write),
    };
  const record = recordOf(write);
  const written = { ...model.written, [record]: (model.written[record] ?? 0) + 1 };
  return {
    expected: { status: 201, text: "any" },
    after: ({ text }) =>
      set({ ...model, written }, write, { write, state: "done", arrived, until: 0, text }),
  };
}

/** W5 and W6: an outcome by a fault's status. */
function failed(model: Model, write: Write, status: number): Step {
  const { now } = model;
  const until = status === 504 ? now + DAY_MS : now + HOLD_MS;
  const after =
    status < 500
      ? free(model, write)
      : set(model, write, { write, state: "held", arrived: now, until, text: null });
  const code = status === 504 ? { code: "REQUEST_TIMEOUT" } : {};
  return { expected: { status, text: "any", ...code }, after: () => after };
}

function refusal(model: Model, status: number, code: string, more: object = {}): Step {
  return { expected: { status, text: "any", code, ...more }, after: () => model };
}

const UNSEEN: Seen = { status: null, text: null, replayed: false, retryAfter: null };

const set = (model: Model, write: Write, entry: Entry): Model => ({
  ...model,
  entries: { ...model.entries, [slotOf(write)]: entry },
});

function free(model: Model, write: Write): Model {
  const { [slotOf(write)]: _, ...entries } = model.entries;
  return { ...model, entries };
}

const used = (faults: readonly Fault[], taken: Fault | undefined): Fault[] =>
  faults.flatMap((fault) => {
    if (fault !== taken) return [fault];
    return fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : [];
  });

function parsed(text: string): { readonly error?: { readonly code?: string } } | null {
  try {
    return JSON.parse(text) as { error?: { code?: string } };
  } catch {
    return null;
  }
}
