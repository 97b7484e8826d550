/** Several sites under one API key, on one platform: the rules of what is whose, and with a hub or without. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { type Composed, composeDaemon } from "../../src/app/compose.ts";
import { loadConfiguration } from "../../src/app/configuration.ts";
import { serveHub } from "../../src/office/server.ts";
import { exported } from "../../src/demo/world.ts";
import { Day } from "./day.ts";
import { freePort } from "./port.ts";
import type { Status } from "../../src/office/answers.ts";
import type { TestRedis } from "./redis.ts";
import { askHere } from "./site-office.ts";
import { fuelbridge, type Running } from "./site-program.ts";
import type { Members, Site } from "./site.ts";

export const GROUP_FLOWS = [
  "orders",
  "delivery-tickets",
  "invoices-issued",
  "invoices",
  "customers",
];
/** Of those, whose records each are one site's; customers are every site's. */
export const GROUP_READ = ["orders", "delivery-tickets", "invoices-issued"] as const;
export const GROUP_SITES = ["north", "south", "west"] as const;

/** The part of a list that is the one's at `at` of `count`. */
const part = <One>(list: readonly One[], at: number, count: number): One[] =>
  list.filter((_, index) => index % count === at);
const endsOf = (digits: number): string[] =>
  Array.from({ length: 10 ** digits }, (_, at) => String(at).padStart(digits, "0"));
/** How numbers end, by which they are told apart: each site has some. */
const [FEW, MANY] = [endsOf(2), endsOf(3)];
const endsFor = (sites: number): readonly string[] => (sites > FEW.length ? MANY : FEW);
/** Whose what has this number is, of `count`. */
const placeOf = (number: string, count: number): number => {
  const ends = endsFor(count);
  return ends.indexOf(number.slice(-(ends[0]?.length ?? 0))) % count;
};

/** Who makes invoices, and who has what the platform made. */
const sharesOf = (sites: readonly string[]) =>
  sites === GROUP_SITES
    ? { makers: sites.slice(0, 1), takers: sites.slice(1) }
    : { makers: sites, takers: sites };

/** Orders by where they go; invoices and tickets by how their numbers end; customers are every site's. */
function rulesOf(locations: readonly string[], sites: readonly string[]): string {
  const { makers, takers } = sharesOf(sites);
  const quoted = (list: readonly string[]): string =>
    `[${list.map((one) => JSON.stringify(one)).join(", ")}]`;
  const numbers = (begin: string, name: string, among: readonly string[]): string =>
    `    - number: ${quoted(part(endsFor(among.length), among.indexOf(name), among.length).map((end) => begin + end))}\n`;
  return `sites:\n  all:\n    - kind: [customer]\n${sites
    .map((name) => {
      const places = part(locations, takers.indexOf(name), takers.length);
      return [
        `  ${name}:\n`,
        makers.includes(name) ? numbers("INV-*", name, makers) : "",
        takers.includes(name) ? numbers("BB*-*", name, takers) : "",
        places.length > 0 ? `    - { kind: [order], location: ${quoted(places)} }\n` : "",
      ].join("");
    })
    .join("")}`;
}

/** Where the orders of the platform go, each once. */
export async function locationsOf({ world }: Site): Promise<string[]> {
  const locations = (await world.records("orders")).flatMap(({ locationId }) =>
    typeof locationId === "string" ? [locationId] : [],
  );
  return [...new Set(locations)].toSorted();
}

const groupRules = async (site: Site, sites = GROUP_SITES as readonly string[]) =>
  rulesOf(await locationsOf(site), sites);

/** Whose what the platform made is by the rules of a group: an order by where it goes, all else by the end of its number. */
export function groupOwner(
  sites: readonly string[],
  locations: readonly string[],
  record: Members,
) {
  const { takers } = sharesOf(sites);
  const { locationId, invoiceNumber, ticketNumber } = record as Readonly<Record<string, string>>;
  const number = invoiceNumber ?? ticketNumber;
  const count = takers.length;
  return takers[
    number === undefined ? locations.indexOf(locationId ?? "") % count : placeOf(number, count)
  ];
}

const rowsOf = (file: string): string[][] =>
  parse(exported(file), { bom: true, relax_column_count: true });

/** The sites, of `count`, that have made invoices. */
export const makersAmong = (count: number): number[] => {
  const places = rowsOf("customer-invoices.csv").flatMap(([, number = ""]) =>
    number.startsWith("INV-") ? [placeOf(number, count)] : [],
  );
  return [...new Set(places)].toSorted((one, other) => one - other);
};

/** The export of the invoices that these sites have made, with the customers that they name, by the names of its files. */
export function exportOf(
  sites: readonly number[],
  count: number,
  day = "",
): ReadonlyMap<string, string> {
  const isOurs = (number = ""): boolean => sites.includes(placeOf(number, count));
  const kept = (file: string, isKept: (row: string[]) => boolean, as = (row: string[]) => row) => {
    const [head = [], ...rows] = rowsOf(file);
    return stringify([head, ...rows.filter(isKept).map(as)]);
  };
  // Firms of one name at several sites are a person's question.
  const apart = (row: string[]): string[] => row.with(2, `${row[2]} ${row[1]}`);
  const heads = "customer-invoices.csv";
  const called = (file: string): string => file.replace(".csv", `${day}.csv`);
  const parties = new Set(rowsOf(heads).flatMap((row) => (isOurs(row[1]) ? [row[6] ?? ""] : [])));
  return new Map([
    [called("customers.csv"), kept("customers.csv", (row) => parties.has(row[1] ?? ""), apart)],
    ...["customer-invoice-taxes.csv", "customer-invoice-lines.csv"].map(
      (file) => [called(file), kept(file, (row) => isOurs(row[2]))] as const,
    ),
    [called(heads), kept(heads, (row) => isOurs(row[1]))],
  ]);
}

/** Those of an ERP, empty. */
function foldersOf({ folder }: Site, name: string): string {
  for (const one of ["export", "import"])
    mkdirSync(join(folder, "var", name, "erp", one), { recursive: true });
  return `../var/${name}/erp`;
}

/** A configuration beside the first one: the same platform and key, an empty ERP folder and a store of its own. */
function beside(site: Site, name: string, yaml: string): string {
  foldersOf(site, name);
  const file = join(site.folder, "config", `${name}.yaml`);
  writeFileSync(
    file,
    yaml
      .replace("company: bluebonnet", `company: ${name}`)
      .replaceAll("../var/demo/state", `../var/${name}/state`)
      .replaceAll("../var/demo/erp", `../var/${name}/erp`),
  );
  return file;
}

/** The first site keeps its folders and takes its own name. */
function renamed(file: string, name: string): string {
  writeFileSync(file, readFileSync(file, "utf8").replace(/^company: .*/m, `company: ${name}`));
  return file;
}

const READ = /^ {2}([\w-]+):\n {4}mapping: (\S+)\n {4}from: platform\.(\w+)\n/gm;

interface GroupOptions {
  /** Left out: those of the demo's records. Null: one site alone, which needs neither rules nor a hub. */
  readonly rules?: string | null;
  /** How often each looks. */
  readonly every?: string;
  readonly sites?: readonly string[];
  /** So many carry the sites, as companies of one configuration each; left out: each site has its own. */
  readonly processes?: number;
  /** Where all of them meet workers: each site has a share of the ERP's invoices then, which {@link exportOf} writes. */
  readonly redis?: Pick<TestRedis, "url">;
}

/** A hub before the sites of a group. */
export class Group {
  readonly site: Site;
  readonly #files: Readonly<Record<string, string>>;
  readonly #open = new Map<string, Composed>();
  readonly #programs: Running[] = [];
  #day: Day | null = null;
  #served: { close(): Promise<void> } | null = null;

  private constructor(site: Site, files: Readonly<Record<string, string>>) {
    this.site = site;
    this.#files = files;
    onTestFinished(() => this.close());
  }

  static async of(
    site: Site,
    { rules, every = "10m", sites = GROUP_SITES, processes, redis }: GroupOptions = {},
  ): Promise<Group> {
    const port = await freePort();
    const text = readFileSync(site.config, "utf8")
      .replaceAll("every: 10m", `every: ${every}`)
      // Without Redis each has its part of it, and a test does not wait for minutes.
      .replace(
        /^platform:\n/m,
        `platform:\n  budget: { perMinute: ${redis === undefined ? 4800 : 600} }\n`,
      );
    if (rules === null) return new Group(site, { north: site.config });
    const whose = rules ?? (await groupRules(site, sites));
    const queued = (name: string): string =>
      redis === undefined ? "" : `queue: { type: bullmq, url: "${redis.url}", site: ${name} }\n`;
    const flows = [...text.matchAll(READ)].filter(([, name = ""]) => GROUP_FLOWS.includes(name));
    const head = text.slice(0, text.indexOf("# The company's own systems"));
    const hub = [
      head,
      "endpoints: {}\nflows:\n",
      ...flows.map(
        ([, name, mapping, from]) =>
          `  ${name}: { mapping: ${mapping}, from: platform.${from}, to: hub.sites, every: ${every} }\n`,
      ),
      `hub:\n  port: ${port}\n  tokens:\n`,
      ...sites.map((name) => `    ${name}: \${TOKEN_${name}}\n`),
      queued("hub"),
      whose,
    ].join("");
    const files: Record<string, string> = { hub: beside(site, "hub", hub) };
    const parts = Array.from({ length: processes ?? 0 }, (_, at) =>
      part(sites, at, processes ?? 0),
    );
    for (const [at, names] of parts.entries()) {
      const yaml = text
        .replace(/^company: .*\n/m, "")
        .replace(/^platform:\n/m, (line) => `${line}  hub: { url: "http://127.0.0.1:${port}" }\n`);
      const companies = names.map((name) => {
        const folder = foldersOf(site, name);
        const token = `platform: { hub: { token: "\${TOKEN_${name}}" } }`;
        return `  ${name}: { endpoints: { erp: { folder: ${folder} } }, ${token} }\n`;
      });
      const file = join(site.folder, "config", `part-${at}.yaml`);
      const queue = redis === undefined ? "" : `queue: { type: bullmq, url: "${redis.url}" }\n`;
      writeFileSync(file, `${yaml}${queue}${whose}companies:\n${companies.join("")}`);
      files[`part-${at}`] = file;
      for (const name of names) files[name] = `${file}#${name}`;
    }
    for (const [at, name] of processes === undefined ? sites.entries() : []) {
      const to = `  hub: { url: "http://127.0.0.1:${port}", token: "\${TOKEN_${name}}" }\n`;
      const yaml = text.replace(/^ {2}apiKey: .*\n/m, (line) => line + to) + queued(name) + whose;
      files[name] =
        at === 0 && redis === undefined
          ? (writeFileSync(site.config, yaml), renamed(site.config, name))
          : beside(site, name, yaml);
    }
    return new Group(site, files);
  }

  /** The program of a site, or of the hub, as people start it. */
  program(name: string): Running {
    return this.#start("run", name);
  }

  /** The processes of the group, whose clock moves. */
  day(): Day {
    const files = Object.entries(this.#files).filter(([, file]) => !file.includes("#"));
    return (this.#day ??= new Day(new Map(files), this.#env));
  }

  /** A worker of all of them. */
  worker(): Running {
    return this.#start("worker", "hub");
  }

  #start(command: string, name: string): Running {
    const running = fuelbridge([command, "--config", this.#files[name] ?? ""], this.#env);
    this.#programs.push(running);
    return running;
  }

  /** The status that the program tells. */
  async status(name: string): Promise<Status> {
    return (await askHere(this.#files[name] ?? "", this.#env, ["status"]))?.data as Status;
  }

  get #env(): Record<string, string> {
    const tokens = Object.keys(this.#files).map((one) => [
      `TOKEN_${one}`,
      `token-of-the-site-${one}`,
    ]);
    return { ...Object.fromEntries(tokens), FUELBRIDGE_PLATFORM_URL: this.site.world.url };
  }

  /** What a site, or the hub, is: it is opened when it is asked for. */
  async member(name: string): Promise<Composed> {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const config = await loadConfiguration(this.#files[name] ?? "", undefined, this.#env);
    const composed = await composeDaemon(config, pino({ level: "silent" }));
    this.#open.set(name, composed);
    if (name === "hub" && config.hub !== null)
      this.#served = await serveHub({ ...composed, hub: config.hub, secrets: [] });
    return composed;
  }

  async once(...names: readonly string[]): Promise<void> {
    for (const name of names) await (await this.member(name)).once(new AbortController().signal);
  }

  /** Ends a member as a kill would have it: what it has committed stays, and nothing else. */
  async end(name: string): Promise<void> {
    if (name === "hub") await this.#served?.close();
    await this.#open.get(name)?.close();
    this.#open.delete(name);
  }

  /** And its store is gone. */
  async lose(name: string): Promise<void> {
    await this.end(name);
    rmSync(join(this.folderOf(name), "state"), { recursive: true, force: true });
  }

  /** Where a member's store is, and its ERP's files are: the first one may have the demo's. */
  folderOf(name: string): string {
    return join(this.site.folder, "var", this.#files[name] === this.site.config ? "demo" : name);
  }

  /** By flow, then state. */
  async counts(name: string): Promise<Record<string, Record<string, number>>> {
    const { engine } = await this.member(name);
    return Object.fromEntries(
      engine.flows.map(({ name: flow, flow: id }) => [
        flow,
        Object.fromEntries(
          [...engine.store.deliveries.counts(id)].filter(([, count]) => count > 0),
        ),
      ]),
    );
  }

  async close(): Promise<void> {
    await this.#day?.close();
    for (const program of this.#programs) program.kill("SIGKILL");
    await Promise.all(this.#programs.map(({ ended }) => ended));
    for (const name of Object.keys(this.#files)) await this.end(name);
  }
}
