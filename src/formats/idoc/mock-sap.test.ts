/**
 * Our IDocs before a reader that is not ours: mock-sap of PyPI, which posts bills and says what it made of them. It is
 * no SAP. Where it is wrong, our own reading of SAP's description stands beside it:
 *
 * - E1EDS01-SUMID. mock-sap reads 010 as the gross total, 011 as the net and 205 as the tax. SAP's domain has 010 "net
 *   invoice value", 011 "billed value" and 005 "sales tax total". So bills with taxes cannot be posted in it.
 * - The purchase order of an item. mock-sap reads E1EDP01-VGBEL, a field that E1EDP01 of INVOIC02 does not have. SAP reads
 *   E1EDP02 with the qualifier 001. So it finds no goods receipt for a delivery note (E1EDP02 016), and answers 51.
 * - E1EDK03. mock-sap takes the date of 026 "billing date for printout"; SAP takes 012 "document date".
 * - ORDERS and DESADV are stored and not posted, whatever is in them. There is no ALEAUD: the status is asked for.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Decimal } from "../../core/decimal.ts";
import { type SegmentName, segments } from "./segments.ts";
import { idocsIn, overlong, type Read } from "./read.ts";
import { bill, billLine, itemOf, openSap, order, ticket } from "../../../test/files/idoc.ts";
import { type MockSap, mockSap, startMockSap } from "../../../test/support/mock-sap.ts";

let sap: MockSap;

const post = async (path: string, body: string): Promise<string> => {
  const headers = { "content-type": "application/xml" };
  return (await fetch(`${sap.url}${path}`, { method: "POST", headers, body })).text();
};
const said = (answer: string, name: string): string =>
  new RegExp(`<${name}>([^<]*)<`).exec(answer)?.[1] ?? "";

/** A bill that it can post: without taxes and delivery notes. */
const postable = (more: Parameters<typeof bill>[0] = {}) =>
  bill({
    subtotal: Decimal.of("18263.75"),
    taxTotal: Decimal.of("0"),
    total: Decimal.of("18263.75"),
    taxes: [],
    lines: [{ ...billLine("ULSD2", "7500", "2.435167", "18263.75"), deliveryTicket: null }],
    ...more,
  });
const written = (of: ReturnType<typeof bill>): string =>
  openSap("INVOIC").freeze([itemOf(of)]).body;

const everySegment = (read: Read): Read[] => [read, ...read.below.flatMap(everySegment)];

describe.skipIf(!mockSap.isThere())("before mock-sap", () => {
  beforeAll(async () => {
    sap = await startMockSap();
  });
  afterAll(() => sap.end());

  test("a bill is posted with our vendor, number and amount to the cent", async () => {
    const answer = await post("/sap/bc/idoc", written(postable({ number: "F-2026-00731-ABC" })));
    expect([said(answer, "STATUS"), said(answer, "MESTYP")]).toEqual(["53", "INVOIC"]);
    const service = "/sap/opu/odata/sap/API_SUPPLIERINVOICE_PROCESS_SRV/A_SupplierInvoice";
    const { d } = (await (await fetch(`${sap.url}${service}?$format=json`)).json()) as {
      d: { results: object[] };
    };
    expect(d.results).toMatchObject([
      {
        InvoicingParty: "0000104711",
        SupplierInvoiceIDByInvcgParty: "F-2026-00731-ABC",
        InvoiceGrossAmount: "18263.75",
        DocumentCurrency: "USD",
      },
    ]);
  });

  test("a number of 17 characters is received and not posted: 16 is the limit that we refuse at", async () => {
    const long = written(postable({ number: "F-2026-00732-ABC" })).replaceAll(
      "00732-ABC",
      "00732-ABCD",
    );
    const answer = await post("/sap/bc/idoc", long);
    expect(said(answer, "STATUS")).toBe("51");
    expect(said(answer, "STATUS_TEXT")).toMatch(/16/);
  });

  test("orders, tickets and bills are XML that it takes; a delivery note without a goods receipt is 51 in its words", async () => {
    const orders = openSap("ORDERS").freeze([itemOf(order())]).body;
    const tickets = openSap("DELVRY").freeze([itemOf(ticket())]).body;
    expect(said(await post("/sap/bc/idoc", orders), "STATUS")).toBe("53");
    expect(said(await post("/sap/bc/idoc", tickets), "STATUS")).toBe("53");
    const answer = await post("/sap/bc/idoc", written(bill()));
    expect(said(answer, "STATUS")).toBe("51");
    expect(said(answer, "STATUS_TEXT")).toContain("DT-2026-00918");
  });

  test("what it sends fits our table of lengths", async () => {
    for (const [message, number] of [
      ["ORDERS", "0000004712"],
      ["INVOIC", "0000004712"],
    ]) {
      const path = `/sap/bc/idoc/generate?mestyp=${message}&salesorder=${number}&format=xml`;
      const [idoc] = idocsIn(Buffer.from(await post(path, "")), "it.xml");
      expect(idoc?.control.fields["MESTYP"]).toBe(message);
      const known = (idoc?.records ?? [])
        .flatMap(everySegment)
        .filter(({ name }) => Object.hasOwn(segments, name));
      expect(known.length).toBeGreaterThan(8);
      expect(known.flatMap((one) => overlong(one, one.name as SegmentName))).toEqual([]);
    }
  });
});
