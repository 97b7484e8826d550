/** Several sites under one API key, on one platform: the rules of what is whose, and with a hub or without. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { type Composed, composeDaemon } from "../../src/app/compose.ts";
import { loadConfiguration } from "../../src/app/configuration.ts";
import { serveHub } from "../../src/office/server.ts";
import { freePort } from "./port.ts";
import type { Status } from "../../src/office/answers.ts";
import { askHere } from "./site-office.ts";
import { fuelbridge, type Running } from "./site-program.ts";
import type { Site } from "./site.ts";

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

/** Orders by where they go; invoices and tickets by their numbers; what the ERP of the north made is the north's. */
function rulesOf(locations: readonly string[]): string {
  const half = locations.length / 2;
  const own = (name: string, digits: string, places: readonly string[]): string =>
    `  ${name}:\n    - number: [${Array.from(digits)
      .map((digit) => `"BB*-*${digit}"`)
      .join(", ")}]\n` +
    `    - { kind: [order], location: [${places.map((one) => `"${one}"`).join(", ")}] }\n`;
  return (
    `sites:\n  north:\n    - number: ["INV-*"]\n  all:\n    - kind: [customer]\n` +
    own("south", "01234", locations.slice(0, half)) +
    own("west", "56789", locations.slice(half))
  );
}

export async function groupRules(site: Site): Promise<string> {
  const locations = (await site.world.records("orders")).flatMap(({ locationId }) =>
    typeof locationId === "string" ? [locationId] : [],
  );
  return rulesOf([...new Set(locations)].toSorted());
}

/** A configuration beside the first one: the same platform and key, an empty ERP folder and a store of its own. */
export function beside(site: Site, name: string, yaml: string): string {
  for (const part of ["export", "import"])
    mkdirSync(join(site.folder, "var", name, "erp", part), { recursive: true });
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
export function renamed(file: string, name: string): string {
  writeFileSync(file, readFileSync(file, "utf8").replace(/^company: .*/m, `company: ${name}`));
  return file;
}

const READ = /^ {2}([\w-]+):\n {4}mapping: (\S+)\n {4}from: platform\.(\w+)\n/gm;

/** A hub before the sites of a group. */
export class Group {
  readonly site: Site;
  readonly #files: Readonly<Record<string, string>>;
  readonly #open = new Map<string, Composed>();
  readonly #programs: Running[] = [];
  #served: { close(): Promise<void> } | null = null;

  private constructor(site: Site, files: Readonly<Record<string, string>>) {
    this.site = site;
    this.#files = files;
    onTestFinished(() => this.close());
  }

  /** `rules` left out: those of the demo's records. Null: one site alone, which needs neither rules nor a hub. */
  static async of(site: Site, rules?: string | null, every = "10m"): Promise<Group> {
    const port = await freePort();
    const text = readFileSync(site.config, "utf8")
      .replaceAll("every: 10m", `every: ${every}`)
      // Each has its part of it, and a test does not wait for minutes.
      .replace(/^platform:\n/m, "platform:\n  budget: { perMinute: 4800 }\n");
    if (rules === null) return new Group(site, { north: site.config });
    const sites = rules ?? (await groupRules(site));
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
      ...GROUP_SITES.map((name) => `    ${name}: \${TOKEN_${name}}\n`),
      sites,
    ].join("");
    const files: Record<string, string> = { hub: beside(site, "hub", hub) };
    for (const name of GROUP_SITES) {
      const to = `  hub: { url: "http://127.0.0.1:${port}", token: "\${TOKEN_${name}}" }\n`;
      const yaml = text.replace(/^ {2}apiKey: .*\n/m, (line) => line + to) + sites;
      files[name] =
        name === "north"
          ? (writeFileSync(site.config, yaml), renamed(site.config, name))
          : beside(site, name, yaml);
    }
    return new Group(site, files);
  }

  /** The program of a site, or of the hub, as people start it. */
  program(name: string): Running {
    const running = fuelbridge(["run", "--config", this.#files[name] ?? ""], this.#env);
    this.#programs.push(running);
    return running;
  }

  /** The status that the program tells. */
  async status(name: string): Promise<Status> {
    return (await askHere(this.#files[name] ?? "", this.#env, ["status"]))?.data as Status;
  }

  get #env(): Record<string, string> {
    const tokens = GROUP_SITES.map((one) => [`TOKEN_${one}`, `token-of-the-site-${one}`]);
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
      this.#served = await serveHub({ engine: composed.engine, hub: config.hub, secrets: [] });
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
    rmSync(join(this.site.folder, "var", name, "state"), { recursive: true });
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
    for (const program of this.#programs) program.kill("SIGKILL");
    await Promise.all(this.#programs.map(({ ended }) => ended));
    for (const name of [...GROUP_SITES, "hub"]) await this.end(name);
  }
}
