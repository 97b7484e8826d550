/** Offices that tests of the console ask: one that notes what it is asked, and one whose every text is the test's. */
import type { MatchReport } from "../../src/match/report.ts";
import type { Finding } from "../../src/match/situation.ts";
import type { CaseRow, Report } from "../../src/reconcile/report.ts";
import type {
  Edited,
  DriftStatus,
  FlowStatus,
  FoundDocument,
  Life,
  MonthStatus,
  QuarantineGroup,
  ShownCorrection,
} from "../../src/office/answers.ts";
import type { Office } from "../../src/office/questions.ts";

const AT = "2026-11-21T07:00:00.000Z";

/** Every text that comes from data, settings or people is `text()`; codes and times are not. */
export function hostileOffice(text: () => string): Office {
  const groupOf = (): QuarantineGroup => ({
    id: text(),
    flow: text(),
    code: text(),
    cause: text(),
    next: text(),
    count: 2,
    since: AT,
    ageMs: 60_000,
    helps: ["retry", "link", "resolve"],
    title: text(),
    accountant: text(),
    operator: text(),
    lookup: { table: text(), key: text() },
    many: text(),
    awaits: null,
    first: { number: text(), ...factsOf(text) },
    sum: { amount: "20.00", currency: text() },
  });
  const office = { ...statuses(text, groupOf), ...documents(text), ...changes() };
  return {
    ...office,
    quarantine: async () => [groupOf()],
    quarantineShow: async () => ({
      ...groupOf(),
      deliveries: [
        {
          delivery: text(),
          document: text(),
          summary: text(),
          number: text(),
          recordId: text(),
          version: text(),
          origin: text(),
          field: text(),
          since: AT,
          ageMs: 1,
          name: text(),
          party: text(),
          ...factsOf(text),
          cause: text(),
          awaits: text(),
          corrections: [correction(text)],
          correctable: [{ field: text(), value: text() }],
          assignee: text(),
          notes: [{ at: AT, who: text(), text: text() }],
        },
      ],
    }),
  };
}

const factsOf = (text: () => string) => ({
  partyName: text(),
  amount: text(),
  currency: text(),
  day: "2026-10-03",
});

const correction = (text: () => string): ShownCorrection => ({
  field: text(),
  was: text(),
  value: text(),
  by: text(),
  reason: text(),
  at: AT,
});

const drift = (text: () => string): DriftStatus => ({
  flow: text(),
  what: "value",
  field: text(),
  value: text(),
  count: 1,
  record: text(),
  first: AT,
  last: AT,
  from: text(),
  mappings: [text()],
  isNews: true,
});

function statuses(text: () => string, groupOf: () => QuarantineGroup) {
  const flow = (): FlowStatus => ({
    name: text(),
    from: text(),
    to: text(),
    state: "stopped",
    schedule: text(),
    lastRunAt: AT,
    lastSuccessAt: AT,
    failingSince: null,
    nextDueAt: AT,
    lastError: { code: "unavailable", message: text(), next: text() },
    received: 1,
    pending: 0,
    delivered: 1,
    skipped: 0,
    elsewhere: [],
    doubtful: [],
    echoes: 0,
    quarantined: 1,
    resolved: 0,
    superseded: 0,
    waits: null,
    unread: [
      {
        what: text(),
        since: AT,
        code: text(),
        message: text(),
        next: text(),
        awaited: false,
        lasts: true,
        behind: { count: 0, names: [] },
      },
    ],
    agreed: null,
    late: [{ code: "turn", count: 1, since: AT, message: text(), next: text(), expected: false }],
    silence: { since: AT, longestMs: 1, limitMs: 1, message: text(), next: text() },
  });
  const stale = { meanMs: 60_000, p95Ms: 150_000 };
  const bought = (): MonthStatus["bought"][number] => ({
    flow: text(),
    requests: { poll: 12 },
    stored: 3,
    delivered: 2,
    untilStored: { ...stale, changes: 3, office: stale },
    untilDelivered: { ...stale, changes: 2, office: null },
  });
  const month = (): MonthStatus => ({
    month: "2026-11",
    used: 12,
    perMonth: 50_000,
    purposes: [{ purpose: "poll", used: 12, reserve: 0, left: 34_988 }],
    forecast: { expected: 18, stretch: 1, runsOut: null },
    days: [{ day: "2026-11-21", spent: { poll: 12 } }],
    lists: [{ flow: text(), pages: 3, slowing: 1 }],
    polls: [{ flow: text(), perLook: 3, times: 1, perMonth: 90, rates: null }],
    bought: [bought()],
    slowed: { requests: 2_400, most: 2_500, by: { flow: text(), purpose: "poll", requests: 9 } },
    minute: { used: 2, limit: 600, opensInMs: 0 },
  });
  const status: Office["status"] = async () => ({
    version: text(),
    company: text(),
    environment: "live" as const,
    daemon: { pid: 1, startedAt: AT },
    outOfStep: [],
    healthy: false,
    flows: [flow()],
    stops: [
      { breaker: text(), scope: text(), since: AT, retryAt: AT, message: text(), next: text() },
    ],
    drift: [drift(text)],
    warnings: [{ endpoint: text(), code: text(), message: text(), next: text() }],
    callers: [
      {
        endpoint: text(),
        lastAt: AT,
        isHere: false,
        isAwaited: true,
        waiting: 2,
        silence: { since: AT, limitMs: 1_000, message: text(), next: text() },
      },
    ],
    quarantine: [groupOf()],
    reconciliation: {
      lastAt: AT,
      trouble: text(),
      waits: { endpoint: text(), since: AT, until: AT, message: text(), next: text() },
      notCompared: [{ endpoint: text(), kind: text(), what: text(), why: text(), next: text() }],
      notWalked: [{ flow: text(), since: AT, message: text(), next: text() }],
      nextDueAt: AT,
      everyNights: 1,
      wantsShare: null,
      differences: { confirmed: 1, seen: 0, clears: 0, accepted: 0, first: [] },
    },
    matching: {
      lastAt: AT,
      trouble: { at: AT, message: text(), next: text() },
      open: 1,
      large: [
        {
          key: text(),
          since: AT,
          what: text(),
          party: text(),
          amount: "12.34",
          cause: text(),
          next: text(),
        },
      ],
    },
    clockJump: null,
    store: { bytes: 8_192, freeBytes: 0 },
    requests: month(),
  });
  return {
    status,
    monthEnd: async (asked: string | null) => ({
      month: asked ?? "2026-10",
      unread: [text()],
      paused: [text()],
      comparedAt: AT,
      notCompared: [{ endpoint: text(), kind: text(), what: text(), why: text(), next: text() }],
      matchedAt: AT,
      alone: 1,
      status: await status(),
    }),
    budget: async () => month(),
    drift: async () => [drift(text)],
    admit: async () => ({ admitted: true as const }),
    toBook: async () => [],
    notebook: async () => ({}),
    samples: async () => [],
    counterparts: async () => [],
    differences: async () => ({
      lastAt: AT,
      undelivered: 0,
      differences: [
        {
          kind: text(),
          flow: text(),
          number: text(),
          bucket: text(),
          cause: text(),
          next: text(),
          confirmed: true,
          clears: false,
          since: AT,
          last: AT,
          row: caseRow(text),
          partyName: text(),
        },
      ],
      accepted: [],
    }),
    reconcileCost: async () => ({
      from: "2026-10-01",
      to: "2026-10-31",
      requests: 40,
      left: 5_000,
      waits: { endpoints: [text()], atMostMs: 72_000_000 },
    }),
    reconcile: async () => report(text),
    findings: async () => ({
      last: { at: AT, report: matched(text) },
      trouble: { at: AT, message: text(), next: text() },
      findings: (["open", "disputed", "accepted"] as const).map((state) => ({
        ...finding(text),
        state,
        note: state === "open" ? null : text(),
        since: AT,
      })),
    }),
    match: async () => ({ ...matched(text), findings: [finding(text)], accepted: [] }),
    trace: async () => ({ number: text(), steps: [], groups: [] }),
  };
}

const finding = (text: () => string): Finding => ({
  key: text(),
  digest: text(),
  rule: text(),
  certainty: "certain",
  direction: "purchase",
  party: text(),
  partyName: text(),
  day: "2026-11-20",
  papers: [{ kind: "invoice", id: text(), number: text() }],
  compared: text(),
  billed: text(),
  expected: text(),
  gallons: "1",
  worth: "1",
  amount: "12.34",
  favour: "us",
  joined: text(),
  cause: text(),
  next: text(),
});

const matched = (text: () => string): Omit<MatchReport, "findings" | "accepted"> => ({
  from: "2026-10-01",
  to: "2026-10-31",
  filter: { party: null, direction: null },
  invoices: { all: 2, match: 1, differ: 1, wait: 0, alone: 0, left: 0 },
  sums: { forUs: "12.34", againstUs: "0.00" },
  notBilled: { deliveries: 0, about: "0.00" },
  parties: [],
  notCompared: [text()],
});

const caseRow = (text: () => string): CaseRow => ({
  case: "c1",
  kind: "invoice",
  key: text(),
  bucket: "differs",
  began: "books",
  by: "link",
  number: text(),
  party: text(),
  parties: { platform: text(), books: text() },
  day: "2026-10-02",
  within: true,
  records: { platform: [], books: [] },
  amount: { platform: "1.00", books: "2.00" },
  open: { platform: "0.00", books: "0.00" },
  gallons: { platform: "0.00", books: "0.00" },
  differences: [{ field: "payer", platform: text(), books: text() }],
  cause: { code: text(), message: text(), next: text() },
  overdue: false,
  suspects: [],
  digest: null,
});

const report = (text: () => string): Report => ({
  schema: 1,
  period: { from: "2026-10-01", to: "2026-10-31" },
  at: AT,
  today: "2026-11-21",
  currency: "USD",
  state: "done",
  failures: [],
  agrees: false,
  notices: [],
  ignore: {},
  strength: [],
  unasked: [{ endpoint: text(), kind: "invoice", why: text() }],
  cases: [caseRow(text)],
  groups: [],
  totals: [
    {
      kind: "invoice",
      bucket: "differs",
      cases: 1,
      platform: { records: 1, amount: "1.00", gallons: "0.00" },
      books: { records: 1, amount: "2.00", gallons: "0.00" },
    },
  ],
  outside: [],
  months: [],
  codes: [
    {
      what: "account",
      kind: "invoice",
      code: text(),
      platform: "1.00",
      books: "2.00",
      difference: "-1.00",
    },
  ],
  names: {},
  bridges: [
    {
      kind: "invoice",
      platform: "1.00",
      steps: [{ bucket: "differs", difference: "-1.00" }],
      books: "2.00",
    },
  ],
  balances: [],
  controls: [],
  accounts: [],
});

function documents(
  text: () => string,
): Pick<Office, "documents" | "document" | "lately" | "runs" | "deeds" | "tables"> {
  const found = (): FoundDocument => ({
    id: text(),
    flow: text(),
    kind: text(),
    summary: text(),
    number: text(),
    ...factsOf(text),
    platformId: text(),
    erpId: text(),
    state: "quarantined",
    clears: false,
    cause: text(),
    receivedAt: AT,
  });
  const life = (): Life => ({
    ...found(),
    recordId: text(),
    from: text(),
    to: text(),
    mapping: text(),
    versions: [{ version: text(), origin: text(), receivedAt: AT, stands: text() }],
    story: [
      {
        at: AT,
        flow: text(),
        event: text(),
        detail: text(),
        own: null,
        platformId: null,
        erpId: null,
      },
    ],
    groups: [text()],
    record: [{ path: "payerId", value: text() }],
    names: {},
    corrections: [correction(text)],
    requests: [
      {
        operation: text(),
        key: text(),
        target: text(),
        body: text(),
        sha256: text(),
        state: text(),
        frozenAt: AT,
        sentAt: AT,
        removedAt: null,
      },
    ],
    differences: [{ field: text(), platform: text(), books: text() }],
  });
  return {
    documents: async () => ({ documents: [found()], next: "12", newest: 400, unsearched: 3 }),
    document: async () => life(),
    runs: async () => [{ flow: text(), at: AT, tookMs: 900, received: 3, trouble: text() }],
    lately: async () => [{ flow: text(), state: "delivered", hour: 498_727, count: 3 }],
    deeds: async () => ({
      deeds: [
        {
          id: "1",
          at: AT,
          by: text(),
          event: text(),
          detail: text(),
          reason: text(),
          flow: text(),
          document: { id: text(), number: text() },
        },
      ],
      next: "7",
    }),
    tables: async () => [
      {
        name: text(),
        file: text(),
        columns: [text(), text()],
        rows: [[text(), text()]],
        more: 1,
        faults: [text()],
        unused: { since: AT, keys: [text()], more: 1 },
        missing: [
          {
            key: text(),
            flow: text(),
            count: 2,
            sum: null,
            first: { number: text(), ...factsOf(text) },
            group: text(),
          },
        ],
      },
    ],
  };
}

const EDITED: Edited = {
  delivery: "1",
  field: "product",
  was: "ULS",
  value: "ULSD",
  revision: "r",
  still: null,
};

const changes = () => ({
  assign: async () => ({ assigned: 1 }),
  remark: async () => ({ noted: 1 }),
  edit: async () => EDITED,
  audit: async () => ({ entries: [], next: null }),
  backfillCost: async () => ({ records: 1, requests: 2, left: 2_498, goesOn: false }),
  backfill: async () => backfilled,
  backfillBegin: async () => ({ records: 1, requests: 2, left: 2_498, goesOn: false }),
  backfills: async () => [backfilled],
  settleFinding: async () => ({ key: "a", state: "accepted" as const }),
  auditHead: async () => ({ entry: 1, hash: "0".repeat(64) }),
  checkAudit: async () => ({ entries: 0, head: null, broken: null }),
  backup: async () => ({ file: "copy.sqlite", auditBefore: 1, auditAfter: 1 }),
  retry: async () => ({ retried: 1, left: 0 }),
  resolve: async () => ({ resolved: 1 }),
  runNow: async () => ({ flows: ["orders"], stopped: [] }),
  release: async () => ({ released: "doubled" }),
  pause: async () => ({ flow: "orders" }),
  goOn: async () => ({ flow: "orders" }),
  accept: async () => ({ flow: "orders", told: null }),
  settleUnread: async () => ({ flow: "orders", what: "orders.csv" }),
  addRow: async () => ({ table: "products", key: "ULSD" }),
  wasDone: async () => null,
});

/** Its texts are plain. */
export function recordingOffice(): { office: Office; asked: string[] } {
  const asked: string[] = [];
  const entries = Object.entries(hostileOffice(() => "q1234567")).map(([name, answer]) => [
    name,
    (...args: never[]) => {
      asked.push(name);
      return (answer as (...args: never[]) => unknown)(...args);
    },
  ]);
  return { office: Object.fromEntries(entries) as Office, asked };
}

const backfilled = {
  flow: "orders",
  from: "2026-10-01",
  to: "2026-10-31",
  state: "done" as const,
  share: 5,
  by: "ann",
  beganAt: AT,
  changedAt: AT,
  done: 1,
  records: 1,
  received: 1,
  requests: 2,
  trouble: null,
};

/** One that notes what was done: what, by whom, and how. */
export function auditedOffice() {
  const { office } = recordingOffice();
  const deeds: string[] = [];
  const wasDone: typeof office.wasDone = async (deed, { by, note }) => {
    deeds.push(`${deed}: ${by}, ${note}`);
    return null;
  };
  return { office: { ...office, wasDone }, deeds };
}
