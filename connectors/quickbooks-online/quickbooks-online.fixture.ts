/** An endpoint over a company of the test's own, with its tokens in a folder of the test's own. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Endpoint, Item, Notebook, Sink, Surroundings } from "../../src/core/contract.ts";
import { never, requestOf } from "../../test/support/connector.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { CLIENT, COMPANY, type Company } from "./company.fixture.ts";
import { quickbooksOnline } from "./index.ts";
import { writeTokens } from "./tokens.ts";

export { never, requestOf };
export { orderOf as orderDocument } from "../../test/support/ledger-documents.ts";

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

export const deliver = (sink: Sink, ...items: readonly Item[]) =>
  sink.send(requestOf(sink, items), never);

const later = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
