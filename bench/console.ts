/**
 * How long each page of the console takes with so many documents in the store, while the daemon pulls, and how much
 * slower it pulls then. Three people look at one page after the other, each a second after the last; in turns with a pull
 * that nobody looks at.
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
];

async function person(
  url: string,
  cookie: string,
  pages: readonly string[],
  { times, at, signal }: { times: Map<string, number[]>; at: number; signal: AbortSignal },
): Promise<void> {
  // Each begins elsewhere, so that all pages are seen.
  for (let turn = at * 4; !signal.aborted; turn++) {
    const page = pages[turn % pages.length] ?? "/";
    const startedMs = performance.now();
    const { statusCode, body } = await request(new URL(page, url), { headers: { cookie } });
    await body.text();
    if (statusCode !== 200) throw new Error(`${page} answered ${statusCode}`);
    times.set(page, [...(times.get(page) ?? []), performance.now() - startedMs]);
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
