/** Every status code and every HRESULT of QuickBooks Desktop is reached, and its consequence asserted; in this process. */
import { expect, onTestFinished, test } from "vitest";
import { deliver, never, requestOf } from "../../test/support/connector.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import type { Sink } from "../../src/core/contract.ts";
import { ledgerSink } from "../../src/ledger/driver.ts";
import { invoiceDocument, itemOf } from "../example/example.fixture.ts";
import { CompanyFile } from "./company-file.fixture.ts";
import { DesktopConfig } from "./config.ts";
import { rowsOf, settings } from "./desktop.fixture.ts";
import { Mailbox } from "./service.ts";
import { ledgerOf } from "./index.ts";
import { hresultOf } from "./qbxml.ts";
import { asking, type Wire } from "./wire.ts";

const ITEM = itemOf(invoiceDocument("FL-1"));
const MINUTE = 60_000;

function companyFile(): CompanyFile {
  const file = new CompanyFile();
  file.enter("Customer", { Name: "CUST-1" });
  return file;
}

const sinkOver = (wire: Pick<Wire, "read" | "write">): Sink =>
  ledgerSink(
    ledgerOf(wire, DesktopConfig.parse(settings(8447)), surroundingsIn(".")).books,
    "invoice",
  );

/** QuickBooks answers at once. */
const directly = (file: CompanyFile): Sink =>
  sinkOver(asking(({ xml }) => Promise.resolve(file.answer(xml))));

const booked = (file: CompanyFile): number => rowsOf(file, "invoices", "id-FL-1").length;

const DONE = { outcome: "done" } as const;
const refused = (code: string) => ({ outcome: "refused", fault: { code } }) as const;
const later = { outcome: "nothing", waitMs: MINUTE } as const;
const stopped = { outcome: "nothing", stop: "scope" } as const;

const CLOSED_MESSAGE =
  "An attempt was made to modify a Invoice with a date that is on or before the closing date of the company.";
const LIMIT_MESSAGE =
  "There was an error when saving a Invoice. QuickBooks error message: The credit limit for the name on this transaction has been exceeded.";
const OPEN_MESSAGE =
  "There was an error when saving a Invoice. QuickBooks error message: The record is in use by another user.";

test.for<[code: number, says: object, message?: string]>([
  [0, DONE],
  ...[500, 501, 510, 530, 531, 550, 560, 570, 600].map((code): [number, object] => [code, DONE]),
  [1000, { outcome: "unknown" }],
  [1010, later],
  [1030, stopped],
  [1060, refused("not-read")],
  [2010, stopped],
  [3000, refused("not-in-quickbooks")],
  [3010, refused("not-read")],
  [3020, refused("not-read")],
  [3030, refused("not-read")],
  [3031, refused("not-read")],
  [3040, refused("not-read")],
  [3070, refused("not-read")],
  [3090, refused("not-read")],
  [3100, refused("name-taken")],
  [3120, refused("not-in-quickbooks")],
  [3140, refused("not-in-quickbooks")],
  [3150, refused("not-read")],
  [3153, refused("refused-by-quickbooks")],
  [3161, refused("closed-period")],
  [3162, later],
  [3170, refused("not-changed")],
  [3170, refused("closed-period"), CLOSED_MESSAGE],
  [3170, later, OPEN_MESSAGE],
  [3171, refused("closed-period"), CLOSED_MESSAGE],
  [3175, later],
  [3176, later],
  [3180, refused("not-saved"), LIMIT_MESSAGE],
  [3180, refused("closed-period"), CLOSED_MESSAGE],
  [3180, later, OPEN_MESSAGE],
  [3185, refused("not-changed")],
  [3200, DONE],
  [3210, refused("refused-by-quickbooks")],
  [3250, stopped],
  [3260, stopped],
  [3261, stopped],
  [3270, refused("refused-by-quickbooks")],
  [3391, DONE],
  [8999, refused("refused-by-quickbooks")],
  [9100, refused("not-read")],
  [9999, { outcome: "unknown" }],
])(
  "status %i of a write has its consequence, and the document goes once",
  async ([code, says, message = "said so"]) => {
    const file = companyFile();
    const sink = directly(file);
    file.says = { name: /^InvoiceAdd$/, code, message };
    const answer = await deliver(sink, [ITEM]);
    expect(answer, JSON.stringify(answer)).toMatchObject(says);
    if (answer.outcome === "refused") expect(answer.fault?.message).toContain(message);
    expect(booked(file)).toBe(answer.outcome === "done" ? 1 : 0);
    expect(await deliver(sink, [ITEM])).toMatchObject(DONE);
    expect(booked(file)).toBe(1);
  },
);

test("a warning without the record is a refusal in QuickBooks' own words, which a person gets after a few tries", async () => {
  const file = companyFile();
  const warned = `<QBXML><QBXMLMsgsRs><InvoiceAddRs statusCode="570" statusSeverity="Warn" statusMessage="said so"/></QBXMLMsgsRs></QBXML>`;
  const sink = sinkOver(
    asking(async ({ xml }) => (xml.includes("<InvoiceAddRq") ? warned : file.answer(xml))),
  );
  expect(await deliver(sink, [ITEM])).toMatchObject({
    outcome: "unknown",
    unlisted: true,
    detail: "QuickBooks: said so (status 570)",
  });
});

test.for<[number, string]>([
  [0, "none"],
  [1, "none"],
  [500, "none"],
  [1000, "unreadable"],
  [1010, "unreadable"],
  [3120, "unreadable"],
  [3250, "unreadable"],
  [3260, "unreadable"],
  [3391, "unreadable"],
])("status %i of a read-back: never taken for a document that is there", async ([code, found]) => {
  const file = companyFile();
  file.says = { name: /^InvoiceQuery$/, code, message: "said so" };
  const sink = directly(file);
  expect(await sink.find(requestOf(sink, [ITEM]), never)).toMatchObject({ found });
  expect(file.asked.some((xml) => xml.includes("AddRq"))).toBe(false);
});

/** A Web Connector in this process, whose answers to an invoice are lost as `lose` says. */
function connected(file: CompanyFile, lose: () => string | null) {
  const timing = { holdMs: 5, lingerMs: MINUTE, deadlineMs: MINUTE };
  const mailbox = new Mailbox({ ...timing, now: Date.now, arrived: () => {} });
  const state = { isOver: false, sessions: 0 };
  const session = async (): Promise<void> => {
    const ticket = mailbox.begin();
    state.sessions++;
    for (let done = 0; !state.isOver && done >= 0;) {
      const xml = await mailbox.next(ticket);
      if (xml === "") continue;
      const hresult = xml.includes("<InvoiceAddRq") ? lose() : null;
      const parsed = hresult === null || hresultOf(hresult).sort !== "parse";
      const response = parsed ? file.answer(xml) : "";
      done = await mailbox.take(ticket, hresult === null ? response : "", hresult ?? "", "");
    }
  };
  const running = (async () => {
    while (!state.isOver) await session();
  })();
  onTestFinished(async () => {
    state.isOver = true;
    mailbox.stop();
    await running;
  });
  return { mailbox, state, sink: sinkOver(asking((one, signal) => mailbox.ask(one, signal))) };
}

test.for([
  ["0x80040400", "refused"],
  ["0x80040401", "unknown"],
  ["0x80040402", "unknown"],
  ["0x80040408", "unknown"],
  ["0x8004040A", "unknown"],
  ["0x8004040D", "unknown"],
  ["0x80040416", "unknown"],
  ["0x80040420", "unknown"],
  ["0x80049999", "unknown"],
] as const)("HRESULT %s for an invoice: %s, and it is there once", async ([code, outcome]) => {
  const file = companyFile();
  let left = 1;
  const { sink, state } = connected(file, () => (left-- > 0 ? code : null));
  const answer = await deliver(sink, [ITEM]);
  expect(answer.outcome, JSON.stringify(answer)).toBe(outcome);
  expect(booked(file)).toBe(outcome === "refused" ? 0 : 1);
  if (outcome === "unknown") expect(JSON.stringify(answer)).toContain(hresultOf(code).means);
  await expect.poll(() => deliver(sink, [ITEM])).toMatchObject(DONE);
  expect([booked(file), state.sessions]).toEqual([1, outcome === "refused" ? 1 : 2]);
});

test.for(["0x80040401", "0x80040408", "0x8004040A", "0x80040416", "0x80040420"])(
  "connectionError %s says what the person at that machine does, and nothing is sent",
  async (code) => {
    const file = companyFile();
    const timing = { holdMs: 5, lingerMs: MINUTE, deadlineMs: MINUTE };
    const mailbox = new Mailbox({ ...timing, now: Date.now, arrived: () => {} });
    const sink = sinkOver(asking((one, signal) => mailbox.ask(one, signal)));
    const ticket = mailbox.begin();
    expect(mailbox.broken(ticket, code, "")).toBe("done");
    const { means, next } = hresultOf(code);
    expect(mailbox.absence).toMatchObject({ message: `${means} (${code})`, next, isUsual: false });
    expect(mailbox.lastError(ticket)).toContain(next);
    expect(await deliver(sink, [ITEM])).toMatchObject({ outcome: "nothing" });
    expect(booked(file)).toBe(0);
  },
);

test("a call that is held while fuelbridge stops does not begin its session anew", async () => {
  const kept = new Map<string, string>();
  const notebook = {
    get: (name: string) => kept.get(name) ?? null,
    set: (name: string, text: string | null) => void kept.set(name, text ?? ""),
  };
  const timing = { holdMs: MINUTE, lingerMs: MINUTE, deadlineMs: MINUTE };
  const mailbox = new Mailbox({ ...timing, now: Date.now, notebook, arrived: () => {} });
  const ticket = mailbox.begin();
  const held = mailbox.next(ticket);
  const before = [...kept.values()];
  mailbox.stop();
  expect(await held).toBe("");
  expect([mailbox.isOpen, await mailbox.next(ticket)]).toEqual([false, ""]);
  expect([...kept.values()]).toEqual(before);
  expect(() => mailbox.begin()).toThrow("fuelbridge stops");
  const after = new Mailbox({ ...timing, now: Date.now, notebook, arrived: () => {} });
  void after.next(ticket);
  expect(after.isOpen).toBe(true);
  after.stop();
});
