import type { Status } from "../report/office.ts";

/** What a daemon answers that has one flow, something in quarantine, and a clock that was set. */
export const STATUS: Status = {
  version: "0.1.0",
  company: "bluebonnet",
  environment: "live",
  daemon: { pid: 7, startedAt: "2026-11-21T07:00:00.000Z" },
  outOfStep: [
    {
      code: "unread",
      flow: "orders",
      count: 1,
      message: "orders-1121.csv is not read",
      next: "Move it away.",
      held: false,
    },
  ],
  healthy: false,
  flows: [
    {
      name: "orders",
      from: "platform.orders",
      to: "erp.orders",
      state: "idle",
      schedule: "every 10m",
      lastRunAt: null,
      nextDueAt: "2026-11-21T07:10:00.000Z",
      lastError: null,
      received: 5,
      pending: 0,
      delivered: 4,
      skipped: 0,
      echoes: 0,
      quarantined: 1,
      resolved: 0,
      superseded: 0,
      waits: { count: 1, until: "2026-11-22T07:00:00.000Z" },
      unread: [
        {
          what: "orders-1121.csv",
          since: "2026-11-21T06:00:00.000Z",
          code: "too-large",
          message: "orders-1121.csv has 600000000 bytes; maxBytes is 500000000.",
          next: "Move it away if it is no export; else raise maxBytes of this endpoint.",
          awaited: false,
          behind: { count: 21, names: ["orders-1122.csv"] },
        },
      ],
      silence: null,
      agreed: { at: "2026-11-21T02:21:00.000Z", documents: 4, amount: null },
    },
  ],
  stops: [],
  quarantine: [
    {
      id: "q12ab34c",
      flow: "orders",
      code: "not-mapped",
      cause: "not mapped: product AVGAS",
      next: 'Add a row for AVGAS to the cross-reference table "items" and retry.',
      count: 1,
      since: "2026-11-18T07:00:00.000Z",
      ageMs: 3 * 86_400_000,
      helps: ["retry", "resolve"],
    },
  ],
  reconciliation: {
    lastAt: "2026-11-21T02:21:00.000Z",
    trouble: null,
    nextDueAt: null,
    everyNights: 1,
    wantsShare: null,
    differences: {
      confirmed: 1,
      seen: 0,
      first: [
        {
          kind: "invoice",
          number: "INV-17",
          bucket: "only there",
          cause: "the platform holds it and the books have nothing that proves to be the same",
        },
      ],
    },
  },
  clockJump: { at: "2026-11-21T06:30:00.000Z", byMs: -93_600_000 },
  requests: {
    month: "2026-11",
    used: 1,
    perMonth: 50_000,
    forecast: { expected: 1, stretch: 1, runsOut: null },
  },
};
