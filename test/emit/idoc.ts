/** The IDocs that the files connector writes: each message from the cases of its mapping and from random documents. */
import * as fc from "fast-check";
import { sinkForm, writerOf } from "../../connectors/files/source.ts";
import { itemsOfCases } from "./cases.ts";
import { type Emitted, written } from "./emitted.ts";
import { itemOf, sinkConfig, siteIn } from "../files/idoc.ts";
import { bills, orders, tickets } from "../files/random-idocs.ts";

/** Where SAP has no room the document is refused by default; here as much as possible is written. */
const settings = {
  INVOIC: {
    more: { numberTooLong: "shorten", withoutOrder: "send", paid: "deliver", itemText: "0001" },
    documents: bills,
  },
  ORDERS: { more: { headerText: "0001", itemText: "0002" }, documents: orders },
  DELVRY: { more: {}, documents: tickets },
} as const;

export function* idocFiles(seed: number, count: number): Generator<Emitted> {
  const cases = itemsOfCases();
  const site = siteIn("/nowhere", { looking: true });
  for (const [name, { more, documents }] of Object.entries(settings)) {
    const message = name as keyof typeof settings;
    const config = sinkConfig(message, { ...more, characters: "clean" });
    const writer = writerOf(config, site);
    for (const [at, item] of (cases.get(sinkForm(config)) ?? []).entries())
      yield* written(`${message}/case-${at + 1}.xml`, writer, [item]);
    const random = fc.sample<{ id: string; number: string }>(documents, { seed, numRuns: count });
    for (const [at, document] of random.entries())
      yield* written(`${message}/random-${at + 1}.xml`, writer, [itemOf(document)]);
  }
}
