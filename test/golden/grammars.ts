/**
 * Every grammar that lies in a store or at a receiver, as examples: what goes in, and the text that comes out. All of them
 * are read back later, by a newer version too, so none may change unnoticed.
 */
import { SinkConfig } from "../../connectors/files/config.ts";
import { formatOf } from "../../connectors/files/source.ts";
import { guidOf } from "../../connectors/quickbooks/text.ts";
import {
  DOC_NUMBER_MOST,
  documentNumber,
  MEMO_MOST,
  memoIn,
  memoOf,
} from "../../connectors/quickbooks/text.ts";
import type { Item } from "../../src/core/contract.ts";
import {
  foldedNumber,
  idempotencyKey,
  type Identity,
  revisionOf,
  sha256,
  sortableInstant,
  spellingsOf,
} from "../../src/core/keys.ts";
import { comparedNumber, type Kind, kinds } from "../../src/core/kinds.ts";
import {
  coveredIn,
  coveredMark,
  disputeMark,
  markOf,
  paidMarkIn,
  payingMark,
  paymentMark,
  platformIdIn,
} from "../../src/ledger/entries.ts";
import { orderIn, ticketIn } from "../../src/ledger/goods.ts";
import { settlementMark } from "../../src/ledger/plan.ts";
import { type OperationId, operations } from "../../src/platform/contract/operations.ts";
import { shownId, storedId } from "../../src/store/statements.ts";
import { itemsOfCases } from "../emit/cases.ts";
import { sinkConfig, siteIn } from "../files/idoc.ts";
import { agreed } from "../files/x12.ts";

const ID = "0b6f7a52-9a4e-4c1e-8f6e-2f1c5f0a7d11";
const NUMBERS = ["INV-2026-000118", " dup-1 ", "FL  2026/7", "Größe ñ 12", "0012", "a_b%c"];

const identity: Identity = {
  company: "Prairie Fuel",
  environment: "live",
  operation: "invoice.create",
  number: "INV-2026-000118",
  revision: "r1",
  generation: 1,
};

type Rows = Readonly<Record<string, unknown>>;

const over = (values: readonly string[], of: (value: string) => unknown): Rows =>
  Object.fromEntries(values.map((value) => [value, of(value)]));

export function grammars(): Readonly<Record<string, Rows>> {
  return {
    "idempotency keys": {
      plain: idempotencyKey(identity),
      "another company": idempotencyKey({ ...identity, company: "Prairie Fuel LLC" }),
      test: idempotencyKey({ ...identity, environment: "test" }),
      "the next generation": idempotencyKey({ ...identity, generation: 2 }),
      "an operation with points and hyphens": idempotencyKey({
        ...identity,
        operation: "delivery-ticket.upsert",
      }),
      "a number beyond ASCII": idempotencyKey({ ...identity, number: "Größe ñ 12" }),
    },
    revisions: {
      "of a version and a content": revisionOf("2026-11-21T09:10:11.425559Z", null, '{"a":1}'),
      "of the revision before and a content": revisionOf(null, "r1", '{"a":1}'),
      "of a content alone": revisionOf(null, null, '{"a":1}'),
    },
    digests: over(["", "fuelbridge", "ñ"], sha256),
    instants: over(
      ["2026-11-21T09:10:11.425559Z", "2026-11-21 04:10:11-05:00", "2026-02-30T00:00:00Z"],
      sortableInstant,
    ),
    kinds: over(Object.keys(kinds), (kind) => kind),
    "numbers as duplicates are looked for": over(NUMBERS, foldedNumber),
    "spellings of a number": over(NUMBERS, spellingsOf),
    "compared numbers": over(Object.keys(kinds), (kind) => comparedNumber(kind as Kind, " dup-1 ")),
    "ids in the store": over([ID, ID.toUpperCase(), "C-58", "sale 12"], (id) => {
      const stored = storedId(id);
      return [typeof stored === "string" ? stored : stored.toString("hex"), shownId(stored)];
    }),
    targets: over(Object.keys(operations), (id) => {
      const { method, path } = operations[id as OperationId];
      return `${method} ${path}`;
    }),
    marks: {
      "of a document": markOf(ID),
      "of a document, read": platformIdIn(`a note\n${markOf(ID)} and more`),
      "of a payment": paymentMark(ID),
      "of a payment, as its description begins": payingMark(ID),
      "of a settlement": settlementMark(ID),
      "of a settlement, as its description begins": payingMark(settlementMark(ID)),
      "of a payment, read": paidMarkIn(`payment:${ID} ACH 4711`),
      "of a settlement, read": paidMarkIn(`platform:${ID} ACH 4711`),
      "of a payment that is counted": coveredMark(ID, "150.00"),
      "of a payment that is counted, read": coveredIn(`${coveredMark(ID, "150.00")}\nmore`),
      "of a dispute": disputeMark("open"),
    },
    "link ids of orders, read": over(
      [`sale 12 ${markOf(ID)}`, `purchase #5 ${markOf(ID)}`, "sale 12", "invoice 12"],
      orderIn,
    ),
    "link ids of tickets, read": over([`T-310007 ${markOf(ID)}`, "T-310007"], ticketIn),
    "QuickBooks memos": over(NUMBERS, (number) => {
      const memo = memoOf({ number, mark: ID, text: "PO 4711" }, MEMO_MOST.online, (text) => text);
      return [memo, memoIn(memo)];
    }),
    "QuickBooks numbers": over([...NUMBERS, "INV-2026-000118-ACME-WEST"], (number) => [
      documentNumber(number, ID, 11),
      documentNumber(number, ID, DOC_NUMBER_MOST),
    ]),
    "ExternalGUID of QuickBooks Desktop": over([ID, "C-58"], guidOf),
    "names of files": names(),
  };
}

/** Of the tables, the IDocs and the X12 interchanges of the cases. */
function names(): Rows {
  const items = itemsOfCases();
  const site = siteIn("/nowhere", { looking: true });
  const tables = ["orders", "customer-invoices", "delivery-tickets", "rack-prices"].flatMap(
    (document) =>
      (["document", "batch"] as const).map(
        (per) => [document, SinkConfig.parse({ document, folder: "out", per })] as const,
      ),
  );
  const messages = (["INVOIC", "ORDERS", "DELVRY"] as const).map(
    (message) => [message, sinkConfig(message)] as const,
  );
  const sets = (["customer-invoices", "orders"] as const).map(
    (document) =>
      [
        `x12 ${document}`,
        SinkConfig.parse({ format: "x12", document, folder: "out", per: "batch", x12: agreed }),
      ] as const,
  );
  return Object.fromEntries(
    [...tables, ...messages, ...sets].flatMap(([name, config]) => {
      const writer = formatOf(config).write(config, site);
      const all: readonly Item[] = items.get(writer.form) ?? [];
      const given = writer.itemsMax === 1 ? all.slice(0, 1) : all;
      const odd = given.map((item) => ({ ...item, number: "INV/2026 000118 ñ" }));
      return [
        [`${name}, ${writer.itemsMax === 1 ? "one" : "several"}`, writer.nameOf(given, 117)],
        [`${name}, with an odd number`, writer.nameOf(odd.slice(0, 1), 118)],
      ];
    }),
  );
}
