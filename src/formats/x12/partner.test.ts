/** A partner that is not ours reads what we write, and we read what it says: PyPI's `mock-edi`, strict. */
import { expect, test } from "vitest";
import { X12Sink } from "../../../connectors/files/config.ts";
import { mostOf, segments, versions } from "./grammar.ts";
import { exchangeOf } from "./read.ts";
import { replyWriter, x12Writer } from "./write.ts";
import {
  agreed,
  context,
  envelope,
  golden820,
  invoice,
  itemOf,
  options,
  order,
  read,
} from "../../../test/files/x12.ts";
import { judgedByPartner, mockEdi } from "../../../test/support/mock-edi.ts";
import { elementsByGrammar, x12Grammars } from "../../../test/support/x12-grammars.ts";

test.runIf(x12Grammars.isThere())(
  "each segment has all elements of its release, as long as they are there, by the grammars of bots",
  () => {
    const theirs = elementsByGrammar();
    const off = versions.flatMap((version) =>
      Object.entries(segments).flatMap(([id, own]) =>
        (theirs[version]?.[id] ?? []).flatMap(([min, max], at) => {
          const element = own[at];
          if (element === undefined) return [`${version} ${id}${at + 1} is not there`];
          const [least, most] = [element.min, mostOf(element, version)];
          if (max === undefined || (min === least && max === most)) return [];
          return [`${version} ${id}${at + 1} is ${least}-${most}, theirs ${min}-${max}`];
        }),
      ),
    );
    // A loop's name became shorter, and nothing that we read depends on it.
    expect(off).toEqual(["005010 AK33 is 1-6, theirs 1-4"]);
  },
);

test.runIf(mockEdi.isThere())(
  "mock-edi takes our 850, 810, 997 and the 820 that we read, and we read its acknowledgements",
  () => {
    const writer = (document: X12Sink["document"], x12: object = {}) =>
      x12Writer(
        X12Sink.parse({ format: "x12", document, folder: "out", x12: { ...agreed, ...x12 } }),
        context(),
      );
    const full = invoice();
    const [priced] = full.lines;
    if (priced === undefined) throw new Error("no line");
    const { amount } = priced;
    const tax = full.taxes[0]?.amount ?? amount;
    // Its dictionary of 810 is narrower than the standard's: 004010 has NTE at position 020 of the heading and MEA at
    // 059 of the IT1 loop, IT106 is optional, code list 963 has FT (federal excise tax is a partner's choice) and code
    // list 128 has CT (contract number). Without these it has nothing to say; with them we have a rejection to read.
    const plain = invoice({
      notes: null,
      contractNumber: null,
      lines: [priced],
      total: amount.plus(tax),
    });
    const content = {
      at: "2026-11-18T09:15:00Z",
      functionalId: "RA",
      control: "117",
      summary: ["A", "1", "1", "1"],
      segments: [
        ["AK2", "820", "0001"],
        ["AK5", "A"],
      ],
    };
    const narrow = { taxes: { "FED-EX": "ST" }, gross: undefined, net: undefined };
    const reply = { ...itemOf(order()), document: { id: "x", content } };
    const judged = judgedByPartner([
      writer("orders").textOf([itemOf(order())], 118),
      writer("customer-invoices", narrow).textOf([itemOf(plain)], 119),
      replyWriter(options()).textOf([reply], 120),
      envelope({ functionalId: "RA", sets: [golden820] }),
      writer("customer-invoices").textOf([itemOf(full)], 121),
    ]);
    const [orders, invoices, , remittance, rejected] = judged;
    expect(judged.slice(0, 4).map(({ findings }) => findings)).toEqual([
      ["850/0001: accepted"],
      ["810/0001: accepted"],
      ["997/0001: accepted"],
      ["820/0001: accepted"],
    ]);
    const said = (segments: readonly string[] = []) =>
      read(null, envelope({ functionalId: "FA", sets: [["997", ...segments]] })).acknowledgements;
    expect(said(orders?.acknowledgement)).toEqual([
      {
        exchange: exchangeOf(options(), 118),
        sentAs: "PO",
        item: "0001",
        verdict: "accepted",
        detail: "A accepted",
        reason: "A accepted",
      },
      {
        exchange: exchangeOf(options(), 118),
        sentAs: "PO",
        item: null,
        verdict: "accepted",
        detail: "A accepted",
        reason: "A accepted",
      },
    ]);
    expect(said(invoices?.acknowledgement)?.[0]).toMatchObject({ verdict: "accepted" });
    expect(said(remittance?.acknowledgement)?.[0]).toMatchObject({ verdict: "accepted" });
    expect(said(rejected?.acknowledgement)?.[0]).toMatchObject({
      exchange: exchangeOf(options(), 121),
      item: "0001",
      verdict: "refused",
      detail: expect.stringContaining('REF01 has a code that is not known (7): "CT"'),
    });
  },
);
