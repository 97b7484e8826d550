/** The IDocs that the files connector writes: each message from the cases of its mapping and from random documents. */
import * as fc from "fast-check";
import { formatOf } from "../../connectors/files/source.ts";
import { itemsOfCases } from "./cases.ts";
import { type Emitted, written } from "./emitted.ts";
import { itemOf, sinkConfig, siteIn } from "../files/idoc.ts";
import { bills, orders, shipments, tickets } from "../files/random-idocs.ts";

const PLANTS = {
  "T-76-TX-2780": "HOU1",
  "T-75-TX-2672": "FTW1",
  "Cowtown North, Fort Worth": "FTW1",
};

/** Where SAP has no room the document is refused by default; here as much as possible is written. */
const bill = { numberTooLong: "shorten", paid: "deliver", itemText: "0001" };
const KINDS = [
  ["INVOIC", "INVOIC", bill, bills],
  // What the cases' terminals and customers are called there.
  ["ORDERS", "ORDERS", { headerText: "0001", itemText: "0002", plants: PLANTS }, orders],
  ["DELVRY", "DELVRY", {}, tickets],
  ["SHPCON", "DELVRY", {}, shipments],
] as const;

export function* idocFiles(seed: number, count: number): Generator<Emitted> {
  const cases = itemsOfCases();
  const site = siteIn("/nowhere", { looking: true });
  for (const [folder, message, more, documents] of KINDS) {
    const config = sinkConfig(message, { ...more, characters: "clean" });
    const writer = formatOf(config).write(config, site);
    const own = folder === message ? (cases.get(formatOf(config).writes(config)) ?? []) : [];
    for (const [at, item] of own.entries())
      yield* written(`${folder}/case-${at + 1}.xml`, writer, [item]);
    const random = fc.sample<{ id: string; number: string }>(documents, { seed, numRuns: count });
    for (const [at, document] of random.entries())
      yield* written(`${folder}/random-${at + 1}.xml`, writer, [itemOf(document)]);
  }
}
