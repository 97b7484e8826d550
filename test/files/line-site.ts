/** Documents that go out, and lists that come in, over an SFTP server: on a real store, by the engine. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { HEADER, settingsIn } from "./kit.ts";
import { invoice } from "./sink.ts";
import { files } from "../../connectors/files/index.ts";
import {
  type Change,
  defineMapping,
  type Mapping,
  type Sink,
  type Source,
} from "../../src/core/contract.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { runFlow } from "../../src/engine/daemon.ts";
import type { Engine, Flow } from "../../src/engine/engine.ts";
import { done, keyless } from "../../src/core/outcome.ts";
import { surroundingsIn } from "../support/surroundings.ts";

const signal = new AbortController().signal;

/** A record is its document. */
const asTheyAre = (kind: "invoice" | "customer", number: string) =>
  defineMapping({
    name: `test/${kind}`,
    kind,
    input: z.looseObject({ [number]: z.string() }),
    output: z.looseObject({}),
    number: (record) => String(record[number]),
    map: (record) => record,
    figures: () => ({ amount: null, gallons: null }),
  });

const invoiceAt = (at: number): Change => {
  const number = `INV-${at}`;
  return { id: number, version: null, text: stringifyExact(invoice({ id: number, number })) };
};

/**
 * @param folder where the files are, which the server shows under the same name
 * @param sftp the section of the endpoint
 */
export function lineSite(folder: string, engine: Engine, sftp: object) {
  for (const name of ["in", "out"]) mkdirSync(join(folder, name), { recursive: true });
  const { store } = engine;
  const endpoint = files.open(
    files.config.parse(
      settingsIn(folder, { sftp, source: { pick: "customers*.csv", holds: "changes" } }),
    ),
    surroundingsIn("/nowhere", {}),
  );
  /** Customers that came, each time that they came. */
  const came: string[] = [];
  const platform: Sink = {
    operation: "customer.create",
    writes: "upsert",
    itemsMax: 1,
    policy: keyless,
    freeze: ([item]) => ({ target: "customers", body: item?.number ?? "" }),
    async send({ body }) {
      came.push(body);
      return done("200", [body]);
    },
    find: async () => ({ found: "none", detail: "" }),
  };
  const flowOf = (name: string, more: { mapping: Mapping; source: Source; sink: Sink }): Flow => {
    const { flow } = store.flows.open(name);
    const ends = { from: "erp.it", to: "platform.it", side: "erp" } as const;
    return { flow, name, ...ends, schedule: { everyMs: 60_000 }, paused: false, ...more };
  };
  let documents = 0;
  const source: Source = {
    async *read() {
      yield {
        changes: Array.from({ length: documents }, (_, at) => invoiceAt(at)),
        position: documents,
      };
    },
  };
  const outbound = flowOf("invoices", {
    mapping: asTheyAre("invoice", "number"),
    source,
    sink: endpoint.sinks["books"] as Sink,
  });
  const inbound = flowOf("customers", {
    mapping: asTheyAre("customer", "code"),
    source: endpoint.sources["customers"] as Source,
    sink: platform,
  });
  const site: Engine = { ...engine, flows: [outbound, inbound] };
  const statesOf = ({ flow }: Flow): Record<string, number> =>
    Object.fromEntries(store.deliveries.counts(flow));
  return {
    came,
    /** So many invoices go out in one run of their flow. Returns what became of them. */
    async send(count: number): Promise<Record<string, number>> {
      documents = count;
      await runFlow(site, outbound, signal);
      return statesOf(outbound);
    },
    /** Drops so many lists of one customer each, a second apart. */
    drop(count: number): void {
      for (let at = 0; at < count; at++) {
        const path = join(folder, "out", `customers-${at}.csv`);
        writeFileSync(path, `${HEADER}\r\n1,${at},Acme,,,,,Dock St,77520,Baytown,US-TX,US,\r\n`);
        utimesSync(path, 1_790_000_000 + at, 1_790_000_000 + at);
      }
    },
    /** One run of the flow that reads them. */
    async read(): Promise<{ states: Record<string, number>; trouble: unknown }> {
      const { trouble } = await runFlow(site, inbound, signal);
      return { states: statesOf(inbound), trouble };
    },
    /** An ERP that takes away what it finds. Returns what ends it, and tells how often it has seen each document. */
    takeAway(): () => Promise<number[]> {
      const seen = new Map<string, number>();
      const take = (): void => {
        for (const name of readdirSync(join(folder, "in"))) {
          const path = join(folder, "in", name);
          const text = readFileSync(path, "utf8");
          rmSync(path);
          seen.set(text, (seen.get(text) ?? 0) + 1);
        }
      };
      const timer = setInterval(take, 3);
      return async () => {
        clearInterval(timer);
        take();
        return [...seen.values()];
      };
    },
    names: (...path: string[]): string[] =>
      existsSync(join(folder, ...path)) ? readdirSync(join(folder, ...path)).toSorted() : [],
    end: () => endpoint.close(),
  };
}
