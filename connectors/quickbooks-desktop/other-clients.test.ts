/**
 * Web Connectors and QuickBooks as others write them: what Intuit's schemas leave open (order of answers, elements that may
 * be missing, dates with zones, booleans as digits), and clients that call twice, not at all, or with old tickets.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { deliver, never, requestOf } from "../../test/support/connector.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { ledgerSink } from "../../src/ledger/driver.ts";
import type { Sink } from "../../src/core/contract.ts";
import { invoiceDocument, itemOf } from "../example/example.fixture.ts";
import { CompanyFile } from "./company-file.fixture.ts";
import { DesktopConfig } from "./config.ts";
import { desk } from "./desk.fixture.ts";
import { listens, opened, openSite, settings, USER } from "./desktop.fixture.ts";
import { ledgerOf } from "./index.ts";
import { Mailbox } from "./service.ts";
import { repliesIn } from "./qbxml.ts";
import { asking } from "./wire.ts";

const MINUTE = 60_000;
const ITEM = itemOf(invoiceDocument("FL-1"));

describe("answers", () => {
  const answer = (inner: string) => `<QBXML><QBXMLMsgsRs>${inner}</QBXMLMsgsRs></QBXML>`;
  const reply = (at: string, ret: string) =>
    `<CustomerQueryRs requestID="r.${at}" statusCode="0" statusSeverity="Info"><${ret}/></CustomerQueryRs>`;
  const asked = (xml: string) =>
    asking(
      () => Promise.resolve(xml),
      () => "r",
    );
  const two = [
    { name: "CustomerQuery", values: {} },
    { name: "CustomerQuery", values: {} },
  ];

  test("count by the request that they name, in whatever order they come", async () => {
    const told = await asked(answer(reply("2", "BRet") + reply("1", "ARet"))).read(two, never);
    expect(told.map(({ rets }) => rets[0]?.name)).toEqual(["ARet", "BRet"]);
  });

  test("of which two name one request are torn: nobody knows which counts", async () => {
    const twice = asked(answer(reply("1", "ARet") + reply("1", "BRet")));
    await expect(twice.read(two, never)).rejects.toMatchObject({ phase: "torn" });
  });

  test("are read with blanks or a byte order mark before their declaration", () => {
    const xml = `<?xml version="1.0" ?>${answer(reply("1", "ARet"))}`;
    for (const before of ["", "\r\n  ", "\ufeff"])
      expect(repliesIn(`${before}${xml}`)).toHaveLength(1);
  });

  test("tell days with a zone, and booleans as digits", async () => {
    const { file, hooks, invoice, invoices } = desk();
    const { id } = invoice({ DueDate: "2026-12-21" });
    file.pay(id, "100.00");
    hooks.after = (xml) =>
      xml
        .replace(/<(TxnDate|DueDate)>([\d-]+)</g, "<$1>$2-06:00<")
        .replace("<IsPaid>true<", "<IsPaid>1<");
    expect((await invoices("paidInvoices")).get(id)).toMatchObject({
      invoiceDate: "2026-11-21",
      dueDate: "2026-12-21",
      paidDate: "2026-11-21",
      state: "paid",
    });
  });

  test("that tell no edit sequence show what has changed by their stamps", async () => {
    const { file, customer, hooks, ids } = desk();
    hooks.after = (xml) => xml.replaceAll(/<EditSequence>\d+<\/EditSequence>/g, "");
    expect(await ids("parties")).toHaveLength(1);
    file.now = "2026-11-21T12:05:00";
    file.edit("Customer", customer.id, { Phone: "1" });
    expect(await ids("parties")).toHaveLength(1);
    expect(await ids("parties")).toHaveLength(0);
  });
});

describe("a list that ends early is never taken for the whole list", () => {
  const MANY = 620;
  const company = () => {
    const one = desk();
    for (let at = 1; at < MANY; at++) one.file.enter("Customer", { Name: `C ${at}` });
    return one;
  };

  test("an iterator that has nothing more though some were left is begun anew", async () => {
    const { hooks, ids } = company();
    let ended = 0;
    hooks.after = (xml) =>
      xml.includes("iteratorID") && xml.includes('Count="0"') && ended++ === 0
        ? '<QBXML><QBXMLMsgsRs><CustomerQueryRs statusCode="1" statusSeverity="Info" statusMessage="none"/></QBXMLMsgsRs></QBXML>'
        : xml;
    expect(new Set(await ids("parties")).size).toBe(MANY);
    expect(ended).toBeGreaterThan(1);
  });

  test("an answer as long as was asked that does not say how many are left is an error", async () => {
    const { hooks, read, told } = company();
    hooks.after = (xml) => xml.replaceAll(/ iterator(?:RemainingCount|ID)="[^"]*"/g, "");
    await expect(read("parties")).rejects.toMatchObject({
      message: expect.stringContaining("how many are left"),
    });
    expect(told).toEqual([]);
  });

  test("an iterator that never comes to its end is an error, and no endless loop", async () => {
    const { hooks, read } = company();
    hooks.after = (xml) =>
      xml
        .replace(/iteratorRemainingCount="\d+"/, 'iteratorRemainingCount="7"')
        .replace(/<CustomerRet>.*<\/CustomerRet>/, "");
    await expect(read("parties")).rejects.toMatchObject({ name: "SourceUnavailable" });
  });
});

/** A mailbox that a test calls as the Web Connector does. */
function mailboxed() {
  const file = new CompanyFile();
  file.enter("Customer", { Name: "CUST-1" });
  const timing = { holdMs: 5, lingerMs: MINUTE, deadlineMs: MINUTE };
  const mailbox = new Mailbox({ ...timing, now: Date.now, arrived: () => {} });
  onTestFinished(() => mailbox.stop());
  const config = DesktopConfig.parse(settings(8447));
  const wire = asking((one, signal) => mailbox.ask(one, signal));
  const sink = ledgerSink(ledgerOf(wire, config, surroundingsIn(".")).books, "invoice");
  return { file, mailbox, sink };
}

describe("a client", () => {
  /** Answers whatever is asked, until the work is done. */
  async function served<T>(
    { file, mailbox }: ReturnType<typeof mailboxed>,
    ticket: string,
    work: Promise<T>,
  ): Promise<T> {
    const state = { isOver: false };
    const over = work.finally(() => (state.isOver = true));
    const serving = (async () => {
      while (!state.isOver) {
        const xml = await mailbox.next(ticket);
        if (xml !== "") await mailbox.take(ticket, file.answer(xml), "", "");
        await new Promise((done) => setImmediate(done));
      }
    })();
    const result = await over;
    await serving;
    return result;
  }

  test("that asks twice without an answer leaves the first document unknown; it is found, and there once", async () => {
    const one = mailboxed();
    const { mailbox, file, sink } = one;
    const ticket = mailbox.begin();
    const sent = deliver(sink, [ITEM]);
    for (let xml = ""; !xml.includes("<InvoiceAddRq");) {
      xml = await mailbox.next(ticket);
      const answer = xml === "" ? "" : file.answer(xml);
      if (answer !== "" && !xml.includes("<InvoiceAddRq"))
        await mailbox.take(ticket, answer, "", "");
    }
    await mailbox.next(ticket);
    expect(await sent).toMatchObject({ outcome: "unknown" });
    expect(await served(one, ticket, sink.find(requestOf(sink, [ITEM]), never))).toMatchObject({
      found: "exact",
    });
    expect(file.rows("Invoice")).toHaveLength(1);
  });

  test("that says hresult 0 has an answer; one that brings it twice is told that nothing was asked", async () => {
    const { mailbox, sink, file } = mailboxed();
    const ticket = mailbox.begin();
    void deliver(sink, [ITEM]);
    const answer = file.answer(await mailbox.next(ticket));
    expect(await mailbox.take(ticket, answer, "0x00000000", "")).toBeGreaterThanOrEqual(0);
    expect(await mailbox.take(ticket, answer, "", "")).toBe(-1);
    expect(mailbox.lastError(ticket)).toBe("Nothing was asked.");
  });

  test("that never closes its session is followed by the next one, and old tickets get no work", async () => {
    const { mailbox } = mailboxed();
    const [first, second] = [mailbox.begin(), mailbox.begin()];
    expect(await mailbox.next(first)).toBe("");
    expect(mailbox.lastError(first)).toContain("over");
    expect(await mailbox.take(first, "", "", "")).toBe(-1);
    mailbox.close(first);
    expect(mailbox.isOpen).toBe(true);
    mailbox.close(second);
    expect(await mailbox.next(second)).toBe("");
  });

  test("whose session ended while it waited is not told to wait on for ever", async () => {
    const { mailbox } = mailboxed();
    const ticket = mailbox.begin();
    expect(await mailbox.next(ticket)).toBe("");
    expect(mailbox.lastError(ticket)).toBe("NoOp");
    mailbox.close(ticket);
    expect(await mailbox.next(ticket)).toBe("");
    expect(mailbox.lastError(ticket)).toContain("over");
  });
});

test("a call that is not UTF-8, as the Web Connector writes, is refused: no letter of it is guessed", async () => {
  const { port } = await openSite({ calls: false });
  opened(port, { password: "Grüße-4711" }, { arrived: () => {} });
  await listens(port);
  const login = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><authenticate><strUserName>${USER}</strUserName><strPassword>Grüße-4711</strPassword></authenticate></s:Body></s:Envelope>`;
  const posted = async (body: Buffer): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}/qbwc`, { method: "POST", body })).text();
  expect(await posted(Buffer.from(login, "latin1"))).toContain("<soap:Fault>");
  for (const text of [login, `\ufeff${login}`])
    expect(await posted(Buffer.from(text))).toMatch(/<string>[0-9a-f-]{36}</);
});

describe("who may not ask for preferences", () => {
  test("is here all the same: of the company only its name is needed", async () => {
    const { port, file, connector } = await openSite({ calls: false });
    file.says = { name: /^PreferencesQuery$/, code: 3260, message: "insufficient permission" };
    connector.start();
    const endpoint = opened(port);
    await endpoint.check(never);
    expect(await deliver(endpoint.sinks["invoices"] as Sink, [ITEM])).toMatchObject({
      outcome: "done",
    });
  });

  test("nor for the company is told what QuickBooks says", async () => {
    const { port, file, connector } = await openSite({ calls: false });
    const answer = file.answer.bind(file);
    file.answer = (xml) => {
      file.says = { name: /Query$/, code: 3260, message: "insufficient permission" };
      return answer(xml);
    };
    connector.start();
    const endpoint = opened(port);
    await expect(endpoint.check(never)).rejects.toMatchObject({
      message: expect.stringContaining("insufficient permission"),
      next: expect.stringContaining("Integrated Applications"),
    });
  });
});
