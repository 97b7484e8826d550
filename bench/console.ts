/**
 * How long each page, filter and sort of the console takes with so many documents in the store: those that the pages lead to
 * by their own links and forms, and what people type. Then while the daemon pulls, and how much slower it pulls for it:
 * three people look at one page after the other, each a second after the last, in turns with a pull that nobody looks at.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { request } from "undici";
import { table } from "../src/views/text.ts";
import { CONFIG } from "./pull.ts";
import { inFolder, median, root, say, startPlatform, verdict, whole } from "./support.ts";

export const NAME = "ann";
export const PASSWORD = "correct horse battery";
const PEOPLE = 3;
const THINKING_MS = 1_000;
const PULLED = 20_000;
const PAGE_TARGET_MS = 200;
/** Each page alone is loaded so often, after once that is not counted. */
const LOADS = 3;
/** Pages that differ in ids and values only are loaded so often. */
const ALIKE_MAX = 1;
const SHOWN_MAX = 20;
const PULL_TARGET = 0.9;

interface Site {
  readonly url: string;
  readonly group: string;
  readonly bytes: number;
}

export async function benchConsole(documents: number, rounds: number): Promise<void> {
  const platform = await startPlatform("empty");
  await platform.generateInvoices(100);
  try {
    await inFolder(async (folder) => {
      const file = join(folder, "config.yaml");
      const console = "console: { web: { port: 0 } }\n";
      writeFileSync(
        file,
        `${CONFIG}${console}crossReferences: ${join(root, "config", "crossref")}\n`,
      );
      const site = join(import.meta.dirname, "console-site.ts");
      const child = spawn(process.execPath, [...process.execArgv, site], {
        stdio: ["pipe", "pipe", "inherit"],
        env: {
          ...process.env,
          FUELBRIDGE_PLATFORM_URL: platform.url,
          FUELBRIDGE_API_KEY: platform.apiKey,
          FUELBRIDGE_CONFIG: file,
          FUELBRIDGE_DOCUMENTS: String(documents),
        },
      });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const told = async <Report>(): Promise<Report> => {
        const { value, done } = await lines.next();
        if (done === true) throw new Error("the site ended");
        return JSON.parse(value) as Report;
      };
      const { url, group, bytes } = await told<Site>();
      say(
        "",
        `console: ${whole(documents)} documents, a store of ${whole(bytes / 1024 / 1024)} MB`,
      );
      const cookie = await loggedIn(url);
      await eachAlone(url, cookie, pagesOf(group, documents));
      const times = new Map<string, number[]>();
      const rates: Record<"alone" | "watched", number[]> = { alone: [], watched: [] };
      const pulled = async (): Promise<number> => {
        child.stdin.write("pull\n");
        const { records, seconds } = await told<{ records: number; seconds: number }>();
        if (records < PULLED) throw new Error(`${records} of ${PULLED} records came`);
        return records / seconds;
      };
      await platform.generateInvoices(PULLED);
      // The first one warms both sides up.
      await pulled();
      for (let round = 0; round < rounds; round++) {
        rates.alone.push(await pulled());
        const end = new AbortController();
        const people = Array.from({ length: PEOPLE }, (_, at) =>
          person(url, cookie, pagesOf(group, documents), { times, at, signal: end.signal }),
        );
        rates.watched.push(await pulled());
        end.abort();
        await Promise.all(people);
        say(
          `  records/s alone ${whole(rates.alone.at(-1) ?? 0)}, with people ${whole(rates.watched.at(-1) ?? 0)}`,
        );
      }
      summary(times, rates);
      child.stdin.end();
      await once(child, "exit");
    });
  } finally {
    await platform.stop();
  }
}

const pagesOf = (group: string, documents: number): string[] => [
  "/",
  "/needs-you",
  `/needs-you/${group}`,
  "/documents",
  "/documents?text=B-777",
  "/documents?text=Party%2077",
  "/documents?text=777.00",
  "/documents?text=2026-10",
  "/documents?state=quarantined&order=amount",
  "/documents?state=quarantined&least=100&most=300",
  "/documents?state=quarantined&party=Party%2077",
  "/documents?state=delivered&least=100&most=4000&party=Party%207",
  "/documents?order=number",
  "/documents?order=party&state=quarantined",
  "/documents?order=party&flow=invoices",
  "/documents?state=resolved",
  "/documents?party=Party%2077&month=2026-10",
  "/documents?least=100&most=101&month=2026-10",
  "/documents?month=2026-06&order=amount",
  `/documents/${Math.floor(documents / 2)}`,
  "/reconciliation",
  "/budget",
  "/flows",
  "/cross-references",
  "/audit",
  "/month-end",
  "/match",
  "/documents?flow=invoices-issued&order=party&party=Party%207&least=1&most=5000",
  "/documents?state=echo&order=number",
  "/documents?state=skipped&party=nobody",
  "/documents?state=resolved&order=amount&month=2026-10",
  "/documents?state=delivered&order=party&month=2026-07&least=4999",
  "/documents?text=Party%207&order=amount",
  "/documents?text=B",
  "/documents?text=B-1",
  "/documents?text=Party",
  "/documents?text=777",
  "/documents?state=skipped&order=party&least=3",
  "/documents?state=echo&order=party&least=1&most=4998",
  "/documents?state=resolved&party=Party%201&least=1",
];

/** From page to page by their links and by each choice of their forms that ask only. */
async function eachAlone(url: string, cookie: string, typed: readonly string[]): Promise<void> {
  const seen = new Map<string, number>();
  const times: [page: string, ms: number[], bytes: number][] = [];
  const ahead = [...typed];
  for (let page = ahead.shift(); page !== undefined; page = ahead.shift()) {
    if (times.some(([known]) => known === page)) continue;
    let { ms, text } = await loaded(url, cookie, page);
    const all: number[] = [];
    for (let load = 0; load < LOADS; load++) {
      ({ ms, text } = await loaded(url, cookie, page));
      all.push(ms);
    }
    times.push([page, all, text.length]);
    for (const next of leadingOn(page, text)) {
      const alike = shapeOf(next);
      const count = seen.get(alike) ?? 0;
      seen.set(alike, count + 1);
      if (count < ALIKE_MAX) ahead.push(next);
    }
  }
  const slowest = times
    .map(([page, ms, bytes]) => ({ page, ms, bytes, middle: median(ms) }))
    .toSorted((one, other) => other.middle - one.middle);
  const over = slowest.filter(({ middle }) => middle >= PAGE_TARGET_MS);
  say(
    "",
    `${whole(slowest.length)} pages, filters and sorts with nobody else; ${over.length} take ${PAGE_TARGET_MS} ms or more`,
    table(
      ["THE SLOWEST", "MEDIAN MS", "SLOWEST MS", "KB", "TARGET", ""],
      slowest
        .slice(0, Math.max(SHOWN_MAX, over.length))
        .map(({ page, ms, bytes, middle }) => [
          page,
          whole(middle),
          whole(Math.max(...ms)),
          whole(bytes / 1024),
          `< ${PAGE_TARGET_MS}`,
          verdict(middle < PAGE_TARGET_MS),
        ]),
    ),
  );
}

/** Ids are alike, and so are values of several choices together: what is chosen alone is loaded for each value. */
function shapeOf(page: string): string {
  const { pathname, searchParams } = new URL(page, "http://console");
  const chosen = [...searchParams].filter(([, value]) => value !== "");
  const query = chosen.map(([name, value]) => (chosen.length > 1 ? name : `${name}=${value}`));
  return `${pathname} ${query.toSorted((one, other) => one.localeCompare(other)).join(" ")}`
    .replaceAll(/\bq[\da-f]{7}\b/g, "q")
    .replaceAll(/\d+/g, "1");
}

/** Addresses in the page of what can be loaded, each choice of a form by itself. */
function leadingOn(page: string, text: string): string[] {
  const plain = text.replaceAll("&amp;", "&");
  const links = [...plain.matchAll(/ href="(\/[^"]*)"/g)].map(([, to = ""]) => to);
  const forms = [...plain.matchAll(/<form method="get" action="([^"]+)">(.*?)<\/form>/gs)];
  const choices = forms.flatMap(([, action = "", form = ""]) =>
    [...form.matchAll(/<select[^>]* name="([^"]+)">(.*?)<\/select>/gs)].flatMap(
      ([, name = "", options = ""]) =>
        [...options.matchAll(/<option value="([^"]+)"/g)].map(([, value = ""]) => {
          const to = new URL(page, "http://console");
          to.pathname = action;
          to.searchParams.set(name, value);
          return to.pathname + to.search;
        }),
    ),
  );
  return [...links, ...choices]
    .map((to) => to.replace(/#.*/, ""))
    .filter(
      (to) => !/^\/(assets|logout|login)|\/(csv|evidence)\b|\.(css|js|svg|png|ico)\b/.test(to),
    );
}

async function loaded(url: string, cookie: string, page: string) {
  const startedMs = performance.now();
  const { statusCode, body } = await request(new URL(page, url), {
    headers: { cookie },
    // The daemon closes a connection that was idle while it was busy.
    reset: true,
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${page} answered ${statusCode}`);
  return { ms: performance.now() - startedMs, text };
}

async function person(
  url: string,
  cookie: string,
  pages: readonly string[],
  { times, at, signal }: { times: Map<string, number[]>; at: number; signal: AbortSignal },
): Promise<void> {
  // Each begins elsewhere, so that all pages are seen.
  for (let turn = at * 4; !signal.aborted; turn++) {
    const page = pages[turn % pages.length] ?? "/";
    const { ms } = await loaded(url, cookie, page);
    times.set(page, [...(times.get(page) ?? []), ms]);
    await pause(THINKING_MS, null, { signal }).catch(() => {});
  }
}

async function loggedIn(url: string): Promise<string> {
  const cookies = (headers: Record<string, string | string[] | undefined>): string =>
    [headers["set-cookie"] ?? []]
      .flat()
      .map((one) => one.split(";")[0])
      .join("; ");
  const form = await request(new URL("/login", url));
  const csrf = /name="csrf" value="([^"]+)"/.exec(await form.body.text())?.[1] ?? "";
  const answer = await request(new URL("/login", url), {
    method: "POST",
    headers: {
      cookie: cookies(form.headers),
      origin: new URL(url).origin,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({ csrf, name: NAME, password: PASSWORD }).toString(),
  });
  await answer.body.text();
  if (answer.statusCode !== 303) throw new Error(`login answered ${answer.statusCode}`);
  return cookies(answer.headers);
}

function summary(
  times: ReadonlyMap<string, readonly number[]>,
  { alone, watched }: Record<"alone" | "watched", readonly number[]>,
): void {
  const rows = [...times].map(([page, ms]) => [
    page,
    whole(ms.length),
    whole(median(ms)),
    whole(Math.max(...ms)),
    `< ${PAGE_TARGET_MS}`,
    verdict(median(ms) < PAGE_TARGET_MS),
  ]);
  const ratio = median(alone.map((rate, at) => (watched[at] ?? 0) / rate));
  say(
    "",
    table(["PAGE", "SEEN", "MEDIAN MS", "SLOWEST MS", "TARGET", ""], rows),
    "",
    table(
      ["PULL", "ALONE", "WITH PEOPLE", "RATIO", "TARGET", ""],
      [
        [
          `${whole(PULLED)} invoices`,
          `${whole(median(alone))}/s`,
          `${whole(median(watched))}/s`,
          ratio.toFixed(2),
          `>= ${PULL_TARGET}`,
          verdict(ratio >= PULL_TARGET),
        ],
      ],
    ),
  );
}
