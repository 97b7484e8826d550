/** Random documents, written as IDocs and read back: equal to the cent and the character. */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Decimal } from "../../core/decimal.ts";
import type { SupplierInvoiceDocument } from "../documents.ts";
import { textOfLines } from "../../../test/files/idoc-rules.ts";
import { below, field, idocsIn, numberIn, type Read } from "./read.ts";
import { itemOf, openSap } from "../../../test/files/idoc.ts";
import { numbers, runs } from "../../../test/support/runs.ts";
import { bills, orders, tickets } from "../../../test/files/random-idocs.ts";

type Name = Parameters<typeof below>[1];

/** The fields of the segments of a name, with one of them as the key. */
const keyed = (
  read: Pick<Read, "below">,
  name: Name,
  key: string,
  value: string,
): Record<string, string | null> =>
  Object.fromEntries(below(read, name).map((one) => [get(one, key), get(one, value)]));
const get = (read: Read | undefined, name: string): string | null =>
  read === undefined ? null : field(read, "E1EDK01", name as "BELNR");
const exact = (value: string | null | undefined): string | undefined =>
  numberIn(value ?? "")?.plain();
const textIn = (
  read: Read | { below: readonly Read[] },
  header: Name,
  line: Name,
): string | null => {
  const [found] = below(read, header);
  if (found === undefined) return null;
  return textOfLines(
    below(found, line).map((one) => ({
      TDLINE: get(one, "TDLINE") ?? "",
      TDFORMAT: get(one, "TDFORMAT") ?? "",
    })),
  );
};
const recordsOf = (body: string) => ({
  below: idocsIn(Buffer.from(body), "it.xml")[0]?.records ?? [],
});
const ten = (one: string): string => (/^\d{1,9}$/.test(one) ? one.padStart(10, "0") : one);
const dayOf = (one: string | null): string | undefined => one?.slice(0, 10).replaceAll("-", "");

function readBill(body: string): unknown {
  const root = recordsOf(body);
  const sums = keyed(root, "E1EDS01", "SUMID", "SUMME");
  const dates = keyed(root, "E1EDK03", "IDDAT", "DATUM");
  const numbers = keyed(root, "E1EDK02", "QUALF", "BELNR");
  return {
    isCredit: get(below(root, "E1EDK01")[0], "BSART") === "CRME",
    number: numbers["009"],
    contract: numbers["006"] ?? null,
    vendor: keyed(root, "E1EDKA1", "PARVW", "PARTN")["RS"],
    dates: [dates["012"], dates["028"]],
    sums: [exact(sums["010"]), exact(sums["005"]), exact(sums["011"])],
    notes: textIn(root, "E1EDKT1", "E1EDKT2"),
    taxes: below(root, "E1EDK04").map((tax) => [get(tax, "MWSKZ"), exact(get(tax, "MWSBT"))]),
    lines: below(root, "E1EDP01").map((item) => ({
      gallons: exact(get(item, "MENGE")),
      rate: exact(get(item, "VPREI")),
      po: keyed(item, "E1EDP02", "QUALF", "BELNR")["001"],
      ticket: keyed(item, "E1EDP02", "QUALF", "BELNR")["016"] ?? null,
      item: keyed(item, "E1EDP19", "QUALF", "IDTNR")["001"],
      amount: exact(keyed(item, "E1EDP26", "QUALF", "BETRG")["003"]),
      text: textIn(item, "E1EDPT1", "E1EDPT2"),
    })),
  };
}

function saidOf(of: SupplierInvoiceDocument): unknown {
  const isCredit = of.total.sign < 0;
  const signed = (one: Decimal | null): string | undefined =>
    (isCredit ? one?.negated() : one)?.plain().replace(/^-0$/, "0");
  return {
    isCredit,
    number: of.number,
    contract: of.contractNumber,
    vendor: ten(of.vendor),
    dates: [dayOf(of.invoiceDate), dayOf(of.dueDate)],
    sums: [of.subtotal, of.taxTotal, of.total].map(signed),
    notes: of.notes,
    taxes: of.taxes.map(({ taxCode, amount }) => [taxCode, signed(amount)]),
    lines: of.lines.map((line) => ({
      gallons: signed(line.gallons),
      rate: line.rate?.plain(),
      po: of.poNumber,
      ticket: line.deliveryTicket,
      item: line.item,
      amount: signed(line.amount),
      text: line.description,
    })),
  };
}

const numRuns = runs(50, 2_000, 10_000);

test(
  "random bills, written as INVOIC02 and read back, are equal to the cent and the character",
  numbers,
  () => {
    const sink = openSap("INVOIC", { itemText: "0001" });
    fc.assert(
      fc.property(bills, (of) => {
        const [read, said] = [readBill(sink.freeze([itemOf(of)]).body), saidOf(of)];
        // Vitest's own comparison takes longer than all the rest; it says what differs.
        if (!isDeepStrictEqual(read, said)) expect(read).toEqual(said);
      }),
      { numRuns },
    );
  },
);

test("random orders and tickets are read back as they were", numbers, () => {
  const [selling, delivering] = [openSap("ORDERS"), openSap("DELVRY", { withoutOrder: "send" })];
  fc.assert(
    fc.property(orders, tickets, (sold, brought) => {
      const root = recordsOf(selling.freeze([itemOf(sold)]).body);
      const [item] = below(root, "E1EDP01");
      const [line] = sold.lines;
      const [price] = below(item ?? { below: [] }, "E1EDP05");
      const per = Decimal.of(get(price, "UPRBS") ?? "0");
      const [head] = below(recordsOf(delivering.freeze([itemOf(brought)]).body), "E1EDL20");
      const [part] = below(head ?? { below: [] }, "E1EDL24");
      const [good] = brought.lines;
      const read = [
        keyed(root, "E1EDK02", "QUALF", "BELNR")["044"],
        keyed(root, "E1EDKA1", "PARVW", "PARTN")["AG"],
        exact(get(item, "MENGE")),
        exact(get(price, "KRATE")),
        get(head, "LIFEX"),
        get(head, "BOLNR"),
        get(part, "MATNR"),
        exact(get(part, "LFIMG")),
        exact(get(part, "VOLUM")),
        get(below(part ?? { below: [] }, "E1EDL41")[0], "BSTNR"),
      ];
      const said = [
        sold.number,
        ten(sold.party.code),
        line?.quantity.plain(),
        line?.unitPrice.times(per).plain(),
        brought.number,
        brought.reference,
        good?.product,
        good?.quantity.plain(),
        good?.grossGallons?.plain(),
        brought.order,
      ];
      if (!isDeepStrictEqual(read, said)) expect(read).toEqual(said);
    }),
    { numRuns },
  );
});
