/**
 * What a month of the demo's business costs of the platform's requests, by what they are for, and for each document that was
 * delivered; and how long changes waited. The daemon and the sandbox run in this process by one clock that is moved from one
 * thing that is due to the next: the platform's papers come at the times that they have in the demo, and nothing sleeps. A day takes
 * 20 s of the processor: 1,300 requests, and 2,900 times at which the daemon looks whether a clock was set.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { request } from "undici";
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import type { Staleness } from "../src/core/pace.ts";
import { stringifyExact } from "../src/core/json.ts";
import type { Clock } from "../src/core/time.ts";
import { dropExports } from "../src/demo/world.ts";
import { openLog } from "../src/log.ts";
import { resourceNames } from "../src/sandbox/kinds.ts";
import { scene } from "../src/sandbox/scenes/index.ts";
import { Random } from "../src/sandbox/scenes/random.ts";
import { startSandbox } from "../src/sandbox/server.ts";
import { table } from "../src/views/text.ts";
import { inFolder, root, say, whole } from "./support.ts";

const DAY = 86_400_000;
/** What both sides have had before: it is there when the month begins. */
const MASTERS = new Set(["connections", "freight-rates", "locations", "supplier-terminals"]);
/** Nothing is under way when nothing was for so many turns of the event loop. */
const TURNS = 4;
/** The sandbox's clock is moved by no less. */
const SHORT_MS = 100;
const OFFICE = "officeHours: { days: [mon, tue, wed, thu, fri], from: '07:00', to: '18:00' }\n";

/** A look by which nothing came is one request: its list's first page. */
interface Asked {
  first: number;
  further: number;
}

export async function benchRequests(days: number): Promise<void> {
  await inFolder(async (folder) => {
    const startMs = Date.UTC(2027, 0, 1);
    // Still in its month, whose counts are told.
    const endMs = startMs + days * DAY - 60_000;
    const sandbox = await startSandbox({ scenario: "empty" });
    const control = async (path: string, body?: object): Promise<unknown> => {
      const method = body === undefined ? "GET" : "POST";
      const text = body === undefined ? null : stringifyExact(body);
      const answer = await request(sandbox.controlUrl + path, { method, body: text });
      const told = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`the sandbox answered ${told}`);
      return JSON.parse(told) as unknown;
    };
    const clock = virtualClock(startMs);
    let aheadMs = 0;
    /** The sandbox's clock is this machine's, and so much ahead. */
    const moved = async (): Promise<void> => {
      const moreMs = clock.now().wallMs - Date.now() - aheadMs;
      if (moreMs < SHORT_MS) return;
      aheadMs += moreMs;
      await control("/clock", { advanceSeconds: moreMs / 1_000 });
    };
    const { keys } = (await control("/keys")) as {
      keys: { name: string; key: string }[];
    };
    const config = await configured(folder, sandbox.baseUrl, keys);
    const before = scene("empty", new Date(startMs)).records;
    const had = new Set(resourceNames.flatMap((name) => before[name].map(({ id }) => id)));
    // The demo's month ends when this one does.
    const papers = resourceNames
      .flatMap((resource) =>
        scene("demo", new Date(startMs + 31 * DAY)).records[resource].map((record) => ({
          resource,
          record,
          atMs: MASTERS.has(resource) ? startMs : Date.parse(record["updatedAt"] as string),
        })),
      )
      .filter(({ atMs, record }) => atMs <= endMs && !had.has(record.id))
      .toSorted((one, other) => one.atMs - other.atMs);
    const asked = watched(sandbox.baseUrl);
    const composed = await composeDaemon(
      config,
      openLog({ level: "fatal", secrets: [], to: "stderr" }),
      undefined,
      clock,
    );
    const stop = new AbortController();
    const running = composed.run(stop.signal);
    let [next, day] = [0, 0];
    try {
      for (;;) {
        await asked.quiet();
        const dueMs = Math.min(clock.dueMs(), papers[next]?.atMs ?? Infinity);
        if (dueMs > endMs) break;
        for (; startMs + (day + 1) * DAY <= dueMs; day++)
          say(
            `  day ${day + 1} of ${days}: ${whole(process.cpuUsage().user / 1e6)} s of the processor`,
          );
        clock.to(dueMs);
        await moved();
        for (let one = papers[next]; one !== undefined && one.atMs <= dueMs; one = papers[next]) {
          const { resource } = one;
          const records: object[] = [];
          for (; papers[next]?.resource === resource && (papers[next]?.atMs ?? 0) <= dueMs; next++)
            records.push(papers[next]?.record ?? {});
          await control(`/records/${resource}`, { key: "supplier", records });
        }
        clock.wake();
      }
      const status = await composed.office.status();
      tell(days, status, await composed.office.budget(), asked.lists);
    } finally {
      stop.abort();
      clock.end();
      await running;
      await composed.close();
      asked.end();
      await sandbox.close();
    }
  });
}

/** config/demo.yaml as it is, in this folder: what reads from the platform looks when it is worth most, the ERP's folder hourly. */
async function configured(
  folder: string,
  url: string,
  keys: readonly { readonly name: string; readonly key: string }[],
) {
  dropExports(folder);
  mkdirSync(join(folder, "state"), { recursive: true });
  const key = keys.find(({ name }) => name === "supplier")?.key ?? "";
  writeFileSync(join(folder, "api-key"), `${key}\n`, { mode: 0o600 });
  const file = join(folder, "config.yaml");
  const text = readFileSync(join(root, "config", "demo.yaml"), "utf8")
    .replaceAll("../var/demo/", "./")
    .replace("crossReferences: ./crossref", `crossReferences: ${join(root, "config", "crossref")}`)
    .replace(/url: .*FUELBRIDGE_PLATFORM_URL.*/, `url: ${url}`)
    .replaceAll("every: 10m", "every: auto")
    .replaceAll("every: 1m", "every: 1h");
  writeFileSync(
    file,
    text.replace("\nplatform:", `\n${OFFICE}firstStart: "2027-01-01"\nplatform:`),
  );
  return loadConfiguration(file);
}

/** Time goes on from one thing that is due to the next. */
function virtualClock(startMs: number) {
  const random = new Random(1);
  const waiting = new Set<{ readonly atMs: number; readonly go: () => void }>();
  let [wallMs, isOver] = [startMs, false];
  const clock: Clock = {
    now: () => ({ boot: "bench", monoMs: wallMs - startMs + 1_000, wallMs }),
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const one = {
          atMs: wallMs + Math.max(ms, 1),
          go: () => {
            waiting.delete(one);
            signal?.removeEventListener("abort", one.go);
            resolve();
          },
        };
        if (isOver || signal?.aborted === true) resolve();
        else {
          waiting.add(one);
          signal?.addEventListener("abort", one.go);
        }
      }),
    chance: () => random.next(),
  };
  return {
    ...clock,
    /** When the next pause ends. */
    dueMs: () => [...waiting].reduce((least, { atMs }) => Math.min(least, atMs), Infinity),
    to(atMs: number): void {
      wallMs = Math.max(wallMs, atMs);
    },
    wake(): void {
      for (const one of waiting) if (one.atMs <= wallMs) one.go();
    },
    end(): void {
      isOver = true;
      for (const one of waiting) one.go();
    },
  };
}

/** The daemon's requests to the platform at this address, and when none of them is under way. */
function watched(url: string) {
  const { origin, pathname } = new URL(url);
  const lists = new Map<string, Asked>();
  let underWay = 0;
  let begun = 0;
  const created = (message: unknown): void => {
    const { request: one } = message as {
      request: { origin: string; path: string; method: string };
    };
    underWay++;
    begun++;
    if (one.origin !== origin || !one.path.startsWith(`${pathname}/`)) return;
    const { pathname: path, searchParams } = new URL(one.path, origin);
    const name = `${one.method} ${path.slice(pathname.length).replaceAll(/\/[\da-f]{8}-[\da-f-]{27}/g, "/ID")}`;
    const asked = lists.get(name) ?? { first: 0, further: 0 };
    asked[searchParams.has("cursor") ? "further" : "first"]++;
    lists.set(name, asked);
  };
  const ended = (): void => void underWay--;
  const channels = [
    ["undici:request:create", created],
    ["undici:request:trailers", ended],
    ["undici:request:error", ended],
  ] as const;
  for (const [channel, listener] of channels) subscribe(channel, listener);
  return {
    lists,
    /** Neither a request nor a file is under way. */
    async quiet(): Promise<void> {
      for (let turns = 0, before = begun; turns < TURNS; turns++) {
        await turn();
        const isBusy =
          underWay > 0 || process.getActiveResourcesInfo().some((one) => one.startsWith("FSReq"));
        if (isBusy || begun !== before) [turns, before] = [-1, begun];
      }
    },
    end(): void {
      for (const [channel, listener] of channels) unsubscribe(channel, listener);
    },
  };
}

const stale = (waits: Staleness | null): string[] =>
  waits === null ? ["", ""] : [waits.meanMs, waits.p95Ms].map((ms) => (ms / 60_000).toFixed(1));

type Offices = Awaited<ReturnType<typeof composeDaemon>>["office"];

function tell(
  days: number,
  { flows }: Awaited<ReturnType<Offices["status"]>>,
  { used, purposes: spent, bought }: Awaited<ReturnType<Offices["budget"]>>,
  lists: ReadonlyMap<string, Asked>,
): void {
  const delivered = flows.reduce((sum, flow) => sum + flow.delivered, 0);
  const each = (requests: number): string => (requests / Math.max(delivered, 1)).toFixed(2);
  say(
    "",
    `requests: ${days} days of the demo's business, ${whole(delivered)} documents delivered`,
    table(
      ["PURPOSE", "REQUESTS", "FOR EACH DOCUMENT"],
      [
        ...spent
          .filter((one) => one.used > 0)
          .map(({ purpose, used: requests }) => [purpose, whole(requests), each(requests)]),
        ["all", whole(used), each(used)],
      ],
    ),
    "",
    table(
      ["ASKED FOR", "REQUESTS", "FURTHER PAGES"],
      [...lists]
        .toSorted(([, one], [, other]) => other.first - one.first)
        .map(([name, { first, further }]) => [name, whole(first + further), whole(further)]),
    ),
    "",
    table(
      ["FLOW", "CHANGES", "WAITED MIN, MEAN", "P95", "IN OFFICE HOURS, MEAN", "P95"],
      bought.flatMap(({ flow, stored, untilStored: waits }) =>
        waits === null ? [] : [[flow, whole(stored), ...stale(waits), ...stale(waits.office)]],
      ),
    ),
  );
}
