/** What the kit does not ask: certificates, and what a person reads. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { tempFolder } from "../../test/support/folder.ts";
import { isThere } from "../../test/support/machine.ts";
import { freePort } from "../../test/support/port.ts";
import { deliver, never, refusalOf } from "../../test/support/connector.ts";
import type { Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { InvoiceDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import {
  billDocument,
  invoiceDocument,
  itemOf,
  paymentDocument,
  withProduct,
} from "../example/example.fixture.ts";
import { DesktopConfig } from "./config.ts";
import { bench } from "./desk.fixture.ts";
import { opened, openSite, PASSWORD, rowsOf, USER } from "./desktop.fixture.ts";
import { document, hresultOf } from "./qbxml.ts";
import { callIn, qwcOf } from "./service.ts";

const send = (sink: Sink, document: InvoiceDocument | PaymentDocument) =>
  deliver(sink, [itemOf(document)]);

const OPENSSL = "/usr/bin/openssl";

test.skipIf(!isThere("openssl"))(
  "over https it shows the configured certificate, and who does not trust that says nothing",
  async () => {
    const folder = tempFolder();
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const made =
      "req -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=localhost -addext subjectAltName=DNS:localhost";
    const files = ["-keyout", key, "-out", certificate];
    execFileSync(OPENSSL, [...made.split(" "), ...files], { stdio: "ignore" });
    const port = await freePort();
    const url = `https://localhost:${port}/qbwc`;
    const endpoint = opened(port, { url, certificate, key, holdMs: 1 }, { arrived: () => {} });
    const login = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><authenticate><strUserName>${USER}</strUserName><strPassword>${PASSWORD}</strPassword></authenticate></s:Body></s:Envelope>`;
    const posted = async (ca?: Buffer): Promise<string> => {
      const call = request(url, { method: "POST", ...(ca === undefined ? {} : { ca }) }).end(login);
      const [answer] = (await once(call, "response")) as [IncomingMessage];
      return (await answer.toArray()).join("");
    };
    const ca = readFileSync(certificate);
    await expect.poll(() => posted(ca).catch(() => "")).toMatch(/<string>[0-9a-f-]{36}<\/string>/);
    await expect(posted()).rejects.toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    expect(endpoint.presence?.()).toMatchObject({ isHere: true });
  },
);

test("requests are read by local names in every Style; a document type is refused", () => {
  const rpc = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:x="urn:x"><s:Body><x:authenticate><strUserName xsi:type="xsd:string">a&amp;b</strUserName><x:strPassword>c&#233;</x:strPassword></x:authenticate></s:Body></s:Envelope>`;
  expect(callIn(rpc)).toEqual({
    operation: "authenticate",
    given: { strUserName: "a&b", strPassword: "cé" },
  });
  expect(() => callIn(`<!DOCTYPE a [<!ENTITY b "c">]>${rpc}`)).toThrow(
    "cannot be read: it declares",
  );
  expect(() => callIn("<a><b></a>")).toThrow("cannot be read: it is not whole");
});

test("another company's file is told, and nothing is written into it", async () => {
  const { port, file } = await openSite();
  file.company = "Somebody Else";
  const sink = opened(port).sinks["invoices"] as Sink;
  await expect(sink.expect?.(never)).rejects.toMatchObject({
    message: expect.stringContaining("Somebody Else"),
  });
  expect(await deliver(sink, [itemOf(invoiceDocument("FL-1"))])).toMatchObject({
    outcome: "nothing",
  });
  expect(rowsOf(file, "invoices", "id-FL-1")).toEqual([]);
});

test("a name that the other list has is refused, or suffixed by policy, and found again", async () => {
  const { port, file } = await openSite();
  file.enter("Vendor", { Name: "CUST-9" });
  const party = { code: "CUST-9", name: "Nine", companyId: "company-9" };
  const item = itemOf(invoiceDocument("FL-9", { party }));
  const endpoint = opened(port);
  const answer = await deliver(endpoint.sinks["invoices"] as Sink, [item]);
  expect(answer).toMatchObject({ outcome: "refused", fault: { code: "name-taken" } });
  await endpoint.close();
  const sink = opened(port, { sameName: "suffix" }).sinks["invoices"] as Sink;
  expect(await deliver(sink, [item])).toMatchObject({ outcome: "done" });
  expect(file.rows("Customer").map(({ fields }) => fields["Name"])).toContain("CUST-9 (C)");
  expect(await deliver(sink, [item])).toMatchObject({ outcome: "done" });
});

test("a document of 0.00 is refused before it is sent: QuickBooks would show it as void", async () => {
  const { port, file } = await openSite();
  const endpoint = opened(port);
  const none = Decimal.zero;
  const nothing = { lines: [], taxes: [], subtotal: none, tax: none, total: none };
  const [line] = invoiceDocument("FL-0").lines;
  if (line === undefined) throw new TypeError("the fixture has a line");
  const lines = [{ ...line, quantity: none, amount: none }];
  for (const name of ["invoices", "bills"]) {
    const item = itemOf(invoiceDocument("FL-0", { ...nothing, lines }));
    expect(await refusalOf(endpoint.sinks[name] as Sink, item), name).toMatchObject({
      code: "not-held",
      message: expect.stringContaining("0.00"),
    });
  }
  expect(file.asked.some((xml) => xml.includes("AddRq"))).toBe(false);
});

test.each([
  ["on another day", "FL 59190010", "2026-10-02"],
  ["on its day", "#FL--5919/0010", "2026-11-21"],
])(
  "a bill that a person entered with other signs in its number is not booked beside it: %s",
  async (_, typed, invoiceDate) => {
    const { file, sinkOf, only } = bench({});
    const party = { code: "VEND-1", name: "Sabine Lights", companyId: "company-2" };
    await send(sinkOf("bill"), billDocument("FL1", { id: "typed", party, invoiceDate }));
    file.edit("Bill", only("Bill").id, { Memo: "", ExternalGUID: "", RefNumber: typed });
    const before = file.asked.length;
    expect(await send(sinkOf("bill"), billDocument("FL-59190010", { party }))).toMatchObject({
      outcome: "refused",
      fault: { code: "number-alike", message: expect.stringContaining(`(${typed})`) },
    });
    const asked = file.asked.slice(before).filter((xml) => xml.includes("<BillQueryRq"));
    expect(asked).toHaveLength(2);
    expect(only("Bill").fields["RefNumber"]).toBe(typed);
  },
);

test("an invoice has its PO number and its ship-to in their fields, and its contract in the memo", async () => {
  const { file, sinkOf, asked } = bench({});
  const long = { poNumber: "4".repeat(26), shipTo: null, description: null };
  const party = { code: "VEND-1", name: "Sabine Lights", companyId: "company-2" };
  await send(sinkOf("invoice"), invoiceDocument("FL-1"));
  await send(sinkOf("invoice"), invoiceDocument("FL-2", long));
  await send(sinkOf("bill"), billDocument("R-1", { party }));
  const memoOf = (number: string, text: string) => `${number} platform:id-${number} ${text}`;
  expect(file.rows("Invoice")).toMatchObject([
    { fields: { PONumber: "4711", Memo: memoOf("FL-1", "contract C-9") } },
    { fields: { PONumber: "4".repeat(25), Memo: memoOf("FL-2", `PO ${long.poNumber}`) } },
  ]);
  expect(file.rows("Bill")).toMatchObject([
    { fields: { Memo: memoOf("R-1", "PO 4711, contract C-9") } },
  ]);
  const adds = file.asked.filter((xml) => xml.includes("InvoiceAddRq"));
  const address = "<ShipAddress><Addr1>Yard 3</Addr1></ShipAddress>";
  expect(adds.map((xml) => xml.includes(address))).toEqual([true, false]);
  const taken = await send(sinkOf("invoice"), invoiceDocument("FL-1", { poNumber: null }));
  expect(taken).toMatchObject({ outcome: "done" });
  expect(file.rows("Invoice")[0]).toMatchObject({ fields: { PONumber: "" } });
  expect(asked("InvoiceMod")).toBe(1);
});

test("a payment has the payer's number, and the accounts and the class that the site names are on every document", async () => {
  const named = { receivableAccount: "A/R Fuel", payableAccount: "A/P Fuel", class: "Fuel" };
  const { file, sinkOf } = bench(named);
  const invoice = await send(sinkOf("invoice"), invoiceDocument("FL-1"));
  const party = { code: "VEND-1", name: "Sabine Lights", companyId: "company-2" };
  const bill = await send(sinkOf("bill"), billDocument("R-1", { party }));
  const payments = sinkOf("payment");
  const pay = (id: string, on: string | null | undefined, more: Partial<PaymentDocument>) =>
    send(payments, paymentDocument(id, on ?? "", more));
  const long = { type: "in", reference: "09100001900 0004711" } as const;
  for (const answer of [
    await pay("pay-1", invoice.ids?.[0], { reference: " 4711 " }),
    await pay("pay-2", bill.ids?.[0], { type: "in", reference: "1042" }),
    await pay("pay-3", bill.ids?.[0], long),
    // Found by what it pays.
    await pay("pay-1", invoice.ids?.[0], { reference: " 4711 " }),
  ])
    expect(answer).toMatchObject({ outcome: "done" });
  expect(file.rows("Invoice")).toMatchObject([
    { fields: { ARAccountRef: "A/R Fuel", ClassRef: "Fuel" } },
  ]);
  expect(file.rows("Bill")).toMatchObject([
    { fields: { APAccountRef: "A/P Fuel" }, lines: [{ ClassRef: "Fuel" }, { ClassRef: "Fuel" }] },
  ]);
  expect(file.rows("ReceivePayment").map(({ fields }) => fields["RefNumber"])).toEqual(["4711"]);
  const checks = file.rows("BillPaymentCheck").map(({ fields }) => fields["RefNumber"] ?? "none");
  expect(checks).toEqual(["1042", "none"]);
  // A clerk moved it to another invoice: its day is looked through, and it is not made again.
  const [moved] = file.rows("ReceivePayment");
  if (moved !== undefined) moved.applied = [];
  await pay("pay-1", invoice.ids?.[0], { reference: "4711" });
  expect(file.rows("ReceivePayment")).toHaveLength(1);
});

test.each(["2026-11-21", "2026-11-24"])(
  "a payment over two invoices is not idle; one that was taken off one of two is, by what it no longer pays, whatever its day: %s",
  async (date) => {
    const { file, sinkOf } = bench({});
    const [whole, half] = ["19934.08", "9967.04"];
    const sent = async (number: string): Promise<string> =>
      String((await send(sinkOf("invoice"), invoiceDocument(number))).ids?.[0]);
    const paid = (number: string) =>
      send(sinkOf("invoice"), invoiceDocument(number, { status: "paid", paidDate: "2026-11-21" }));
    const [one, other] = [await sent("FL-1"), await sent("FL-2")];
    const money = { amount: Decimal.of(whole), date, invoiceId: "id-FL-1" };
    await send(sinkOf("payment"), paymentDocument("pay-1", one, money));
    const [payment] = file.rows("ReceivePayment");
    if (payment === undefined) throw new Error("it was not made");
    payment.applied = [one, other].map((to) => ({ to, amount: half }));
    expect(await paid("FL-3")).toMatchObject({ outcome: "done" });
    expect(file.rows("ReceivePayment")).toHaveLength(2);
    payment.fields["TotalAmount"] = "39868.16";
    payment.applied = [{ to: one, amount: whole }];
    const four = await sent("FL-4");
    expect(await paid("FL-4")).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringContaining(`19,934.08 of ${payment.id}, which came from`) as string,
      },
    });
    payment.fields["Memo"] = "check 17";
    const second = { ...money, date: "2026-12-01", invoiceId: "id-FL-4" };
    expect(await send(sinkOf("payment"), paymentDocument("pay-2", four, second))).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringContaining(`19,934.08 of ${payment.id}, which names`) as string,
      },
    });
    expect(file.rows("ReceivePayment")).toHaveLength(2);
  },
);

test("what a customer paid and nobody applied is asked about before a payment of its job is booked", async () => {
  const { file, sinkOf } = bench({});
  file.enter("Customer", { Name: "Yard 3", FullName: "CUST-1:Yard 3" });
  const party = { code: "CUST-1:Yard 3", name: "Yard 3", companyId: "company-3" };
  const { ids } = await send(sinkOf("invoice"), invoiceDocument("FL-1", { party }));
  const money = { TxnDate: "2026-11-22", TotalAmount: "100.00" };
  file.enter("ReceivePayment", { CustomerRef: "CUST-1", ...money });
  const paid = paymentDocument("pay-1", ids?.[0] ?? "", { invoiceId: "id-FL-1" });
  expect(await send(sinkOf("payment"), paid)).toMatchObject({ fault: { code: "paid-by-others" } });
  expect(file.rows("ReceivePayment")).toHaveLength(1);
});

test("nothing is written that QuickBooks would change, and text goes by numbers", () => {
  const add = (Amount: Decimal) =>
    document(
      [
        {
          name: "InvoiceAdd",
          values: { InvoiceAdd: { CustomerRef: { FullName: "é" }, InvoiceLineAdd: [{ Amount }] } },
        },
      ],
      "r",
    );
  expect(add(Decimal.of("1.5"))).toContain(
    "&#233;</FullName></CustomerRef><InvoiceLineAdd><Amount>1.50<",
  );
  expect(() => add(Decimal.of("1.005"))).toThrow(/does not keep/);
});

test("a code that is longer than any name of QuickBooks is a person's, and stops nobody", async () => {
  const { sinkOf } = bench({});
  const long = withProduct(invoiceDocument("FL-1"), "P".repeat(160));
  expect(await send(sinkOf("invoice"), long)).toMatchObject({ fault: { code: "not-read" } });
});

test("the .qwc file and the sample have what the Web Connector needs, and no password", () => {
  const { endpoints } = parse(readFileSync("config/quickbooks-desktop.yaml", "utf8")) as {
    endpoints: { books: { connector?: string } };
  };
  const { connector, ...books } = endpoints.books;
  expect(connector).toBe("quickbooks-desktop");
  const qwc = qwcOf(DesktopConfig.parse(books));
  expect(qwc).toContain("<AppURL>http://localhost:8447/qbwc</AppURL>");
  expect(qwc).toContain("<Style>Document</Style>");
  expect(qwc).not.toContain("password");
  expect(hresultOf("0x80040420").next).toContain("Integrated Applications");
});
