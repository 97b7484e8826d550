/** All that can be wrong with a configuration, found in one go and located. */
import { statSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import type { CompanySetting } from "../core/settings.ts";
import type { Connector, FolderNeed, Mapping, Offers } from "../core/contract.ts";
import { ConfigurationError } from "../core/errors.ts";
import { isSameZone } from "../core/time.ts";
import { openTables, type TableReport } from "./crossref.ts";
import { type Document, type Group, isGroup } from "./document.ts";
import { complaintsOfFlows, PLATFORM } from "./flows.ts";
import { explainIssues, hiddenBy, parsedBy, valueAt } from "./issues.ts";
import { type JsonSchema, schemasAt } from "./json-schema.ts";
import { type Complaint, type Path, type Problem, settingOf, shown } from "./problems.ts";
import { fullSchema, NAME, type Settings, settingsSchema } from "./schema.ts";
import { complaintOfFolder, complaintsOfTables } from "./site.ts";
import { complaintsOfWeb } from "./web.ts";
import { complainOfSecret, PLATFORM_KEY } from "./secret.ts";

export interface EndpointConfig {
  readonly name: string;
  readonly connector: Connector;
  /** What the connector's own schema made of the rest. */
  readonly settings: unknown;
}

export interface Known {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly connectors: readonly Connector[];
  readonly mappings: readonly Mapping[];
  /** What flows may name after `platform.`. */
  readonly platform: Offers;
}

export interface Checked {
  readonly settings: Settings;
  readonly endpoints: readonly EndpointConfig[];
  /** By flow: what its mapping's schema made of its options. */
  readonly options: ReadonlyMap<string, Options>;
  /** The values of all settings that are secret, and whatever came from a file. */
  readonly secrets: readonly string[];
}

interface Options {
  readonly options: unknown;
  readonly optionsLine: number;
}

/** `settings`: what the file says. `site`: the tables and folders of this machine as well. */
export type Depth = "settings" | "site";

/** A shorter value from a file, of a setting that is no secret, is part of ordinary words: `live` of `delivered`. */
const FILE_VALUE_MIN = 8;

/** The folder of the tables, where the configuration names none. */
export const CROSS_REFERENCES = "crossref";

/** Looks at everything, whatever it has found already. */
export class Check {
  readonly #text: string;
  readonly #known: Known;
  readonly #document: Document;
  readonly #schema: JsonSchema;
  readonly #folder: string;
  /** What flows may name after an endpoint; one whose settings are wrong is not here. */
  readonly #offers = new Map<string, Offers>();
  readonly #options = new Map<string, Options>();
  readonly problems: Problem[];

  /** `folder`: where relative paths start. */
  constructor(text: string, document: Document, known: Known, folder: string) {
    this.#text = text;
    this.#folder = folder;
    this.#known = known;
    this.#document = document;
    this.#schema = fullSchema(known.connectors, known.mappings);
    this.problems = [...document.problems];
  }

  /** Null when there are problems. */
  run(depth: Depth): Checked | null {
    const { value } = this.#document;
    if (this.problems.length === 0 && !isGroup(value)) {
      const text = value === null ? "there is nothing in it" : "there are no settings in it";
      this.#complain([], { message: text, remedy: "Start from config/example.yaml." });
    }
    if (!isGroup(value)) return null;
    const secrets = this.#secrets();
    const parsed = settingsSchema(
      this.#known.connectors,
      this.#known.mappings.map(({ name }) => name),
    ).safeParse(value);
    if (!parsed.success) this.#explain(parsed.error.issues);
    const endpoints = this.#endpoints();
    this.#checkNames();
    this.#checkFlows();
    this.#checkRepeated();
    this.#checkOptions();
    this.#checkPlatformKey();
    this.#checkSurroundings();
    const told = complaintsOfWeb(value, depth === "site" ? this.#folder : null);
    for (const { setting, ...complaint } of told) this.#complain(setting, complaint);
    if (depth === "site") {
      this.#checkTables();
      this.#checkFolders();
    }
    if (!parsed.success || this.problems.length > 0) return null;
    return { settings: parsed.data, endpoints, options: this.#options, secrets };
  }

  /** The values of all secret settings; complains of those that others can read. */
  #secrets(): string[] {
    const { scalars, value } = this.#document;
    const secret = scalars.filter(({ path }) =>
      schemasAt(this.#schema, path, value).some((part) => part.secret === true),
    );
    for (const { path, made } of secret) {
      const complaint = this.#document.broken(path) ? null : complainOfSecret(made);
      if (complaint !== null) this.#complain(path, complaint);
    }
    this.#findPlatformKeys();
    const fromFiles = scalars.filter(
      ({ made }) =>
        made !== null &&
        made.text.length >= FILE_VALUE_MIN &&
        made.references.some(({ kind }) => kind === "file"),
    );
    const values = [...secret, ...fromFiles].flatMap(({ made }) =>
      made === null ? [] : made.text,
    );
    return [...new Set(values)];
  }

  #findPlatformKeys(): void {
    const lines = this.#text.split("\n");
    for (const [at, line] of lines.entries())
      for (const { index } of line.matchAll(PLATFORM_KEY)) {
        if (this.problems.some((problem) => problem.line === at + 1)) continue;
        this.problems.push({
          line: at + 1,
          column: index + 1,
          setting: "",
          message: "an API key of the platform is written here",
          remedy: "Take it out, in comments too, and have it replaced: it may have been copied.",
        });
      }
  }

  #endpoints(): EndpointConfig[] {
    return this.#groups("endpoints").flatMap(([name, { connector: kind, ...rest }]) => {
      const connector = this.#known.connectors.find((candidate) => candidate.name === kind);
      if (connector === undefined) return [];
      const parsed = connector.config.safeParse(rest);
      if (parsed.success) {
        const offers = connector.offers(parsed.data, this.#folder);
        this.#offers.set(name, offers);
        for (const { setting, ...complaint } of offers.complaints ?? [])
          this.#complain(["endpoints", name, ...setting], complaint);
        return [{ name, connector, settings: parsed.data }];
      }
      this.#explain(parsed.error.issues, ["endpoints", name]);
      return [];
    });
  }

  #checkNames(): void {
    for (const list of ["endpoints", "flows"])
      for (const [name] of this.#groups(list)) {
        const taken = list === "endpoints" && name === PLATFORM;
        if (NAME.test(name) && !taken) continue;
        this.#complain(
          [list, name],
          {
            message: taken
              ? '"platform" is the name of the platform itself'
              : `${shown(name)} cannot be a name`,
            remedy: "Take one of lower-case letters, digits and hyphens, for example erp.",
          },
          "key",
        );
      }
  }

  #checkFlows(): void {
    const offers = new Map<string, Offers | null>(
      this.#groups("endpoints").map(([name]) => [name, this.#offers.get(name) ?? null]),
    );
    offers.set(PLATFORM, this.#known.platform);
    const around = {
      offers,
      mappings: this.#known.mappings,
      hidden: (flow: string, field: string) =>
        hiddenBy(this.#document.source(["flows", flow, field])),
    };
    for (const { flow, field, ...complaint } of complaintsOfFlows(this.#groups("flows"), around))
      if (field === null || !this.#document.broken(["flows", flow, field]))
        this.#complain(["flows", flow, ...(field === null ? [] : [field])], complaint);
  }

  /** What a connector's settings repeat of the company's ({@link repeated}) says the same. */
  #checkRepeated(): void {
    const { scalars, value } = this.#document;
    for (const { path } of scalars) {
      const parts = schemasAt(this.#schema, path, value);
      const setting = parts.find(({ company }) => company !== undefined)?.company;
      const said = valueAt(value, path);
      if (setting === undefined || typeof said !== "string" || this.#document.broken(path))
        continue;
      const own = valueAt(value, [setting]);
      if (typeof own !== "string" || isSame(setting, said, own)) continue;
      const quoted = (at: Path, text: string) => hiddenBy(this.#document.source(at)) ?? shown(text);
      this.#complain(path, {
        message: `${quoted(path, said)} contradicts the company's ${setting}, which is ${quoted([setting], own)}`,
        remedy: `Remove this line: the ${setting} of the whole configuration counts for every connector.`,
      });
    }
  }

  /** What a flow sets is what its mapping lets it set. */
  #checkOptions(): void {
    for (const [name, { mapping, options = {} }] of this.#groups("flows")) {
      const schema = this.#mapping(mapping)?.options;
      const path = ["flows", name, "options"];
      if (this.#mapping(mapping) === undefined || !isGroup(options)) continue;
      const parsed = schema && parsedBy(schema, options);
      if (parsed?.success === true)
        this.#options.set(name, {
          options: parsed.data,
          optionsLine: this.#document.place(path).line,
        });
      else if (parsed !== undefined) this.#explain(parsed.error.issues, path);
      else if (Object.keys(options).length > 0)
        this.#complain(
          path,
          {
            message: `the mapping ${String(mapping)} has no options`,
            remedy: "Remove them, or take a mapping that declares them.",
          },
          "key",
        );
    }
  }

  #mapping(name: unknown): Mapping | undefined {
    return this.#known.mappings.find((one) => one.name === name);
  }

  #checkPlatformKey(): void {
    const path = ["platform", "apiKey"];
    const key = valueAt(this.#document.value, path);
    const environment = valueAt(this.#document.value, ["platform", "environment"]);
    if (typeof key !== "string" || !(environment === "live" || environment === "test")) return;
    if (this.#document.broken(path)) return;
    if (/[^\x21-\x7e]/.test(key))
      this.#complain(path, {
        message: "its value has blanks, line breaks or letters outside ASCII: it is no key",
        remedy: "Let the file, or the variable, hold nothing but the key, on one line.",
      });
    else if (!key.startsWith(`svc_${environment}_`)) this.#complainOfKey(path, key, environment);
  }

  #complainOfKey(path: Path, key: string, environment: string): void {
    const begins = /^svc_(?:live|test)_/.exec(key)?.[0];
    this.#complain(path, {
      message:
        `a ${environment} environment takes a key that begins with svc_${environment}_; this one ` +
        (begins === undefined ? "is no key of the platform" : `begins with ${begins}`),
      remedy: "Take the other key, or correct platform.environment.",
    });
  }

  #checkSurroundings(): void {
    if (this.#known.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0")
      this.#complain(["platform", "url"], {
        message: "NODE_TLS_REJECT_UNAUTHORIZED=0 switches the check of certificates off",
        remedy: "Unset it. For a private authority set NODE_EXTRA_CA_CERTS to its certificate.",
      });
    const { written, path, called } = this.#tables();
    if (written && !isFolder(path))
      this.#complain(["crossReferences"], {
        message: `there is no folder ${called}, or this user cannot reach it`,
        remedy:
          "Create it, or correct the path; relative paths start at the configuration's folder.",
      });
  }

  /** The folder of the tables; `called`: as messages may call it. */
  #tables(): { written: boolean; path: string; called: string } {
    const setting = valueAt(this.#document.value, ["crossReferences"]);
    const written = typeof setting === "string";
    const path = resolve(this.#folder, written ? setting : CROSS_REFERENCES);
    return { written, path, called: this.#document.source(["crossReferences"]) ?? path };
  }

  /** Every table can be used, and those are there that a flow needs which is not paused. */
  #checkTables(): void {
    const { written, path, called } = this.#tables();
    if (written && !isFolder(path)) return;
    let found: readonly TableReport[];
    try {
      const reports = openTables(path).check();
      found = reports.map((one) => ({ ...one, file: join(called, basename(one.file)) }));
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.#complain(["crossReferences"], {
        message: `${called} cannot be listed`,
        remedy: error.next,
      });
      return;
    }
    for (const { file, faults } of found)
      for (const fault of faults) this.problems.push({ ...fault, file, column: 1, setting: "" });
    const byName = new Map(found.map((report) => [report.name, report]));
    const flows = this.#groups("flows").filter(([, { paused }]) => paused !== true);
    const mappings = flows.flatMap(([name, flow]) => {
      const mapping = this.#mapping(flow["mapping"]);
      const given = this.#options.get(name);
      return (given && mapping?.using?.(given.options)) ?? mapping ?? [];
    });
    for (const { mapping, ...complaint } of complaintsOfTables(mappings, byName, called)) {
      const [name = ""] = flows.find(([, flow]) => flow["mapping"] === mapping) ?? [];
      this.#complain(["flows", name, "mapping"], complaint);
    }
  }

  /** The folders of the sources and sinks of flows that are not paused. One that several need is told once. */
  #checkFolders(): void {
    const told = new Set<string>();
    const flows = this.#groups("flows").filter(([, { paused }]) => paused !== true);
    for (const [name, offers] of this.#offers) {
      const used = [offers.sources, offers.sinks].flatMap((parts, at) =>
        Object.entries(parts)
          .filter(([part]) =>
            flows.some(([, flow]) => flow[at === 0 ? "from" : "to"] === `${name}.${part}`),
          )
          .flatMap(([, { folders = [] }]) => folders),
      );
      for (const need of used) {
        const path = ["endpoints", name, ...need.setting];
        const complaint = complaintOfFolder(need, this.#calling(name, need));
        if (complaint === null || told.has(complaint.message)) continue;
        told.add(complaint.message);
        this.#complain(path, complaint);
      }
    }
  }

  /** How messages call a folder of an endpoint: by its path, or where that came from elsewhere, by what it came from. */
  #calling(endpoint: string, { path, setting }: FolderNeed): (at: string) => string {
    const of = (names: readonly string[]): string | null =>
      this.#document.source(["endpoints", endpoint, ...names]);
    const own = of(setting);
    const source = own ?? of(["folder"]);
    if (source === null) return (at) => at;
    const root = valueAt(this.#document.value, ["endpoints", endpoint, "folder"]);
    const base = own === null && typeof root === "string" ? resolve(this.#folder, root) : path;
    return (at) => {
      const inside = relative(base, at);
      return inside.startsWith("..") ? `a folder above ${source}` : join(source, inside);
    };
  }

  /** The named groups of settings under `list`, as written; what is no group is complained of elsewhere. */
  #groups(list: string): [name: string, settings: Group][] {
    const written = valueAt(this.#document.value, [list]);
    if (!isGroup(written)) return [];
    return Object.entries(written).filter((entry): entry is [string, Group] => isGroup(entry[1]));
  }

  #explain(issues: Parameters<typeof explainIssues>[0], prefix: Path = []): void {
    const located = issues.map((issue) => ({
      ...issue,
      path: [...prefix, ...issue.path],
    }));
    for (const { path, part, ...complaint } of explainIssues(
      located,
      this.#document.value,
      this.#schema,
      (path) => this.#document.source(path),
    ))
      if (!this.#document.broken(path)) this.#complain(path, complaint, part);
  }

  #complain(path: Path, { message, remedy }: Complaint, part: "key" | "value" = "value"): void {
    const place = this.#document.place(path, part);
    this.problems.push({ ...place, setting: settingOf(path), message, remedy });
  }
}

const isSame = (setting: CompanySetting, one: string, other: string): boolean =>
  setting === "timeZone" ? isSameZone(one, other) : one === other;

/** False also where it cannot be looked at. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
