/** An endpoint over a company of the test's own, with its tokens in a folder of the test's own. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { OrderDocument } from "../../src/ledger/documents.ts";
import type {
  Endpoint,
  Item,
  Notebook,
  Outgoing,
  Sink,
  Surroundings,
} from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { CLIENT, COMPANY, type Company } from "./company.fixture.ts";
import { quickbooksOnline } from "./index.ts";
import { writeTokens } from "./tokens.ts";

export const never = new AbortController().signal;

/** With tokens that are good now, in a folder of its own. */
export function settings(company: Company, more: object = {}) {
  const tokens = join(tempFolder(), "tokens.json");
  writeTokens(tokens, {
    company: COMPANY,
    accessToken: "access-0",
    accessUntil: later(1),
    refreshToken: "refresh-0",
    refreshUntil: later(90),
    authorisedAt: later(-1),
  });
  return {
    company: COMPANY,
    ...CLIENT,
    // Tests name the folder whole; a site names it from the configuration's.
    tokens,
    url: company.url,
    tokenUrl: `${company.url}/tokens`,
    items: { charge: "Charge" },
    accounts: { expense: "5000", paymentsMade: "1010" },
    sameName: "suffix",
    settleMs: 0,
    ...more,
  };
}

/** An empty one, which ends with the test: a store has a real one (src/store/flows.ts). */
export function newNotebook(): Notebook {
  const kept = new Map<string, string | null>();
  return { get: (name) => kept.get(name) ?? null, set: (name, text) => void kept.set(name, text) };
}

export function opened(config: object, more: Partial<Surroundings> = {}): Endpoint {
  const parsed = quickbooksOnline.config.parse(config);
  const surroundings = surroundingsIn("/", { notebook: newNotebook(), ...more });
  const endpoint = quickbooksOnline.open(parsed, surroundings);
  onTestFinished(() => endpoint.close());
  return endpoint;
}

export const sinkOf = (company: Company, name: string, more: object = {}): Sink =>
  opened(settings(company, more)).sinks[name] as Sink;

export const requestOf = (sink: Sink, items: readonly Item[]): Outgoing => ({
  ...sink.freeze(items),
  key: `fb1_${items.map(({ id }) => id).join("_")}`,
  items,
  firstSentAt: null,
});

export const deliver = (sink: Sink, ...items: readonly Item[]) =>
  sink.send(requestOf(sink, items), never);

/** One line: 8000.5 gallons at 2.4137, together 19310.81. */
export const orderDocument = (
  number: string,
  more: Partial<OrderDocument> = {},
): OrderDocument => ({
  id: `id-${number}`,
  number,
  party: { code: "CUST-1", name: "Ranch Supply", companyId: "company-1" },
  type: "sale",
  status: "confirmed",
  date: "2026-11-21",
  description: "Gate 3",
  lines: [
    {
      product: "ULSD-CLR",
      quantity: Decimal.of("8000.5"),
      unit: "gal",
      unitPrice: Decimal.of("2.4137"),
      description: "ULSD",
    },
  ],
  ...more,
});

const later = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
