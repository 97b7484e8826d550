/** All that can be wrong with a configuration, found in one go and located. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Connector } from "../core/contract.ts";
import type { Document } from "./document.ts";
import { complaintsOfFlow, type Parts, PLATFORM } from "./flows.ts";
import { explainIssues, valueAt } from "./issues.ts";
import { type JsonSchema, schemasAt } from "./json-schema.ts";
import { type Complaint, type Path, type Problem, settingOf, shown } from "./problems.ts";
import { fullSchema, NAME, type Settings, settingsSchema } from "./schema.ts";
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
  readonly mappings: readonly { readonly name: string }[];
  /** What flows may name after `platform.`. */
  readonly platform: Parts;
}

interface Checked {
  readonly settings: Settings;
  readonly endpoints: readonly EndpointConfig[];
  /** The values of all settings that are secret. */
  readonly secrets: readonly string[];
}

type Group = Readonly<Record<string, unknown>>;

/** Looks at everything, whatever it has found already. */
export class Check {
  readonly #text: string;
  readonly #known: Known;
  readonly #document: Document;
  readonly #schema: JsonSchema;
  readonly problems: Problem[];

  constructor(text: string, document: Document, known: Known) {
    this.#text = text;
    this.#known = known;
    this.#document = document;
    this.#schema = fullSchema(known.connectors, this.#mappings);
    this.problems = [...document.problems];
  }

  /** Null when there are problems. */
  run(folder: string): Checked | null {
    const { value } = this.#document;
    if (value === null && this.problems.length === 0)
      this.#complain([], {
        message: "there is nothing in it",
        remedy: "Start from config/example.yaml.",
      });
    if (value === null) return null;
    const secrets = this.#secrets();
    const parsed = settingsSchema(this.#known.connectors, this.#mappings).safeParse(value);
    if (!parsed.success) this.#explain(parsed.error.issues);
    const endpoints = this.#endpoints();
    this.#checkNames();
    this.#checkFlows();
    this.#checkPlatformKey();
    this.#checkSurroundings(folder);
    if (!parsed.success || this.problems.length > 0) return null;
    return { settings: parsed.data, endpoints, secrets };
  }

  get #mappings(): string[] {
    return this.#known.mappings.map(({ name }) => name);
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
    return secret.flatMap(({ made }) => (made === null ? [] : [made.text]));
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
      if (parsed.success) return [{ name, connector, settings: parsed.data }];
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
    const endpoints = this.#groups("endpoints").map(([name, { sources, sinks }]) => {
      return [name, { sources: namesIn(sources), sinks: namesIn(sinks) }] as const;
    });
    const parts = new Map<string, Parts>([...endpoints, [PLATFORM, this.#known.platform]]);
    for (const [name, flow] of this.#groups("flows"))
      for (const { field, ...complaint } of complaintsOfFlow(flow, parts))
        this.#complain(["flows", name, ...(field === null ? [] : [field])], complaint);
  }

  #checkPlatformKey(): void {
    const path = ["platform", "apiKey"];
    const key = valueAt(this.#document.value, path);
    const environment = valueAt(this.#document.value, ["platform", "environment"]);
    if (typeof key !== "string" || typeof environment !== "string") return;
    if (this.#document.broken(path) || key.startsWith(`svc_${environment}_`)) return;
    const begins = /^svc_(?:live|test)_/.exec(key)?.[0];
    this.#complain(path, {
      message:
        `a ${environment} environment takes a key that begins with svc_${environment}_; this one ` +
        (begins === undefined ? "is no key of the platform" : `begins with ${begins}`),
      remedy: "Take the other key, or correct platform.environment.",
    });
  }

  /** What is right or wrong on this machine only. */
  #checkSurroundings(folder: string): void {
    if (this.#known.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0")
      this.#complain(["platform", "url"], {
        message: "NODE_TLS_REJECT_UNAUTHORIZED=0 switches the check of certificates off",
        remedy: "Unset it. For a private authority set NODE_EXTRA_CA_CERTS to its certificate.",
      });
    const tables = valueAt(this.#document.value, ["crossReferences"]);
    if (typeof tables === "string" && !isFolder(resolve(folder, tables)))
      this.#complain(["crossReferences"], {
        message: `there is no folder ${resolve(folder, tables)}`,
        remedy:
          "Create it, or correct the path; relative paths start at the configuration's folder.",
      });
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
    ))
      if (!this.#document.broken(path)) this.#complain(path, complaint, part);
  }

  #complain(path: Path, { message, remedy }: Complaint, part: "key" | "value" = "value"): void {
    const place = this.#document.place(path, part);
    this.problems.push({ ...place, setting: settingOf(path), message, remedy });
  }
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const isGroup = (value: unknown): value is Group => typeof value === "object" && value !== null;
/** A connector whose sources are named by the configuration calls them `sources` there, and so with sinks. */
const namesIn = (group: unknown): string[] | null => (isGroup(group) ? Object.keys(group) : null);
