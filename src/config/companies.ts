/**
 * Several companies in one configuration: what stands on top is common, and under `companies` is what differs. Each company
 * gets an ordinary configuration, whose parts know where they were written.
 */
import { join, resolve } from "node:path";
import { siteNames } from "../core/sites.ts";
import { type Document, type Scalar, sourceIn } from "./document.ts";
import { type Finding, type Group, isGroup, type Path, valueAt } from "./problems.ts";

const COMPANIES = "companies";
/** Without a word of its own, each further company has the next port. */
const PORTS: readonly Path[] = [
  ["console", "port"],
  ["console", "web", "port"],
  ["monitoring", "port"],
];

/** All companies of a configuration, as each is written, by name. */
export type Installation = ReadonlyMap<string, Group>;

export const companyNames = ({ value }: Pick<Document, "value">): string[] => {
  const written = valueAt(value, [COMPANIES]);
  return isGroup(written) ? Object.keys(written) : [];
};

/** What `document` says of each company. Empty: it names none. */
export function companiesIn(document: Document): ReadonlyMap<string, Document> {
  const names = companyNames(document);
  return new Map(names.map((name, at) => [name, companyIn(document, name, at)]));
}

function companyIn(document: Document, name: string, at: number): Document {
  const { [COMPANIES]: companies, ...common } = document.value as Group;
  const own = (companies as Group)[name] ?? {};
  const home = [COMPANIES, name];
  const isOwn = (path: Path): boolean => isGroup(own) && isSaid(own, path);
  const scalars = document.scalars.flatMap((scalar): Scalar[] => {
    const [first, second, ...path] = scalar.path;
    if (first !== COMPANIES) return isOwn(scalar.path) ? [] : [scalar];
    return second === name ? [{ ...scalar, path }] : [];
  });
  const source = (path: Path): string | null => sourceIn(scalars, path);
  const written = (path: Path): Path =>
    isOwn(path) || valueAt(common, path) === undefined ? [...home, ...path] : path;
  return {
    value: isGroup(own) ? completed(name, at, common, own) : own,
    problems: document.problems,
    scalars,
    place: (path, part) => document.place(path.length === 0 ? home : written(path), part),
    broken: (path) => document.broken(written(path)),
    source,
  };
}

/** Is it said by this group, or is what it belongs to said as a whole (a list, a text)? */
function isSaid(group: Group, [step, ...rest]: Path): boolean {
  if (step === undefined) return true;
  if (!Object.hasOwn(group, step)) return false;
  const inside = group[String(step)];
  return isGroup(inside) ? isSaid(inside, rest) : true;
}

/** Groups are taken together, all else is replaced, and `~` takes away. */
function merged(common: unknown, own: unknown): unknown {
  if (!isGroup(common) || !isGroup(own)) return own;
  const all: Record<string, unknown> = { ...common };
  for (const [name, value] of Object.entries(own))
    if (value === null) delete all[name];
    else all[name] = merged(all[name], value);
  return all;
}

/** With what a company has by its name, or its place among the companies, unless it says so itself. */
function completed(name: string, at: number, common: Group, own: Group): Group {
  const given: Record<string, unknown> = { company: name };
  if (typeof common["state"] === "string") given["state"] = join(common["state"], name);
  if (valueAt(common, ["queue", "type"]) === "bullmq") given["queue"] = { site: name };
  let all = merged(merged(common, given), own);
  for (const path of PORTS) {
    const port = valueAt(common, path);
    if (typeof port !== "number" || port === 0 || isSaid(own, path)) continue;
    const moved = path.reduceRight<unknown>((value, step) => ({ [step]: value }), port + at);
    if (valueAt(all, path) !== undefined) all = merged(all, moved);
  }
  return all as Group;
}

/** What shares the API key with it within the installation; itself among them. */
export const sharersOf = (installation: Installation, name: string): string[] =>
  [...installation].flatMap(([other, value]) =>
    other === name || isOneKey(value, installation.get(name) ?? {}) ? other : [],
  );

function isOneKey(one: Group, other: Group): boolean {
  const [key, ...keys] = [one, other].map((value) => {
    const [apiKey, environment] = ["apiKey", "environment"].map((of) =>
      valueAt(value, ["platform", of]),
    );
    return typeof apiKey === "string" ? `${String(environment)} ${apiKey}` : null;
  });
  return key !== null && keys[0] === key;
}

/** What may not be the same for two companies, and what must be for those that share an API key. */
export function* complaintsOfCompanies(
  installation: Installation,
  name: string,
  folder: string,
): Generator<Finding> {
  const own = installation.get(name) ?? {};
  const others = [...installation].filter(([other]) => other !== name);
  const path = (value: unknown): string | null =>
    typeof value === "string" ? resolve(folder, value) : null;
  const among = sharersOf(installation, name).filter((other) => other !== name);
  for (const [other, value] of others) {
    const isShared = among.includes(other);
    if (own["company"] === value["company"])
      yield {
        path: ["company"],
        message: `${name} and ${other} have one label`,
        remedy: "Each company has a label of its own: it is part of every idempotency key.",
      };
    if (path(own["state"]) !== null && path(own["state"]) === path(value["state"]))
      yield {
        path: ["state"],
        message: `${name} and ${other} have one state folder`,
        remedy: "Give each a folder of its own: each company has its store.",
      };
    for (const at of PORTS) {
      const port = valueAt(own, at);
      if (port !== undefined && port !== 0 && port === valueAt(value, at))
        yield {
          path: at,
          message: `${name} and ${other} have one port`,
          remedy: "Write it once on top, and each further company has the next port.",
        };
    }
    yield* commonBooks(name, other, [own, value], { path, isShared });
  }
  if (among.length > 0) yield* toldApart(installation, name, among);
}

/** Two companies that read one folder would each take what is the other's; so would two under different keys in one ERP. */
function* commonBooks(
  name: string,
  other: string,
  [own, value]: readonly [Group, Group],
  { path, isShared }: { path: (value: unknown) => string | null; isShared: boolean },
): Generator<Finding> {
  const [endpoints, theirs] = [own, value].map((one) => one["endpoints"]);
  if (!isGroup(endpoints) || !isGroup(theirs)) return;
  for (const [called, endpoint] of Object.entries(endpoints))
    for (const books of Object.values(theirs)) {
      const exchange = path(valueAt(endpoint, ["folder"]));
      const isOneFolder = exchange !== null && exchange === path(valueAt(books, ["folder"]));
      const isOneErp = !isShared && JSON.stringify(endpoint) === JSON.stringify(books);
      if (isOneFolder || isOneErp)
        yield {
          path: ["endpoints", called, ...(isOneFolder ? ["folder"] : [])],
          message: `${name} and ${other} have one ${isOneFolder ? "folder" : "ERP"}: each would take what is the other's`,
          remedy: `Write under ${COMPANIES} what is each company's own: a folder, a database, a company of the ERP.`,
        };
    }
}

function* toldApart(
  installation: Installation,
  name: string,
  among: readonly string[],
): Generator<Finding> {
  const own = installation.get(name) ?? {};
  const said = (of: Path, value: Group = own): string => JSON.stringify(valueAt(value, of)) ?? "";
  const whose = `${[name, ...among].join(" and ")} share an API key`;
  const { sites } = own;
  if (!isGroup(sites))
    yield {
      path: ["sites"],
      message: `${whose}, and nothing says which records are whose`,
      remedy:
        "Write under sites on top the rules of every company: docs/configure.md, Several sites. Each would book the records of all others.",
    };
  const differing = (of: Path) =>
    among.find((other) => said(of, installation.get(other)) !== said(of));
  for (const setting of [["sites"], ["platform", "budget"], ["queue", "url"]]) {
    const other = differing(setting);
    if (other !== undefined)
      yield {
        path: setting,
        message: `${whose}, and ${name} and ${other} say different things of it`,
        remedy: "Write it once on top: it is the key's.",
      };
  }
  const rules = isGroup(sites) ? siteNames(sites) : [];
  const missing =
    rules.length === 0
      ? []
      : among.filter(
          (other) =>
            !isHub(installation.get(other)) && !rules.includes(siteIn(installation, other)),
        );
  if (missing.length > 0)
    yield {
      path: ["sites"],
      message: `${whose}, and there is no rule of ${missing.join(" and ")}`,
      remedy: "Write the rules of every company that has this API key.",
    };
}

/** One that reads for the others under its key, and has no records of its own. */
export const isHub = (company: Group | undefined): boolean => isGroup(company?.["hub"]);

/** What rules call a company. */
function siteIn(installation: Installation, name: string): string {
  const value = installation.get(name) ?? {};
  const isQueued = valueAt(value, ["queue", "type"]) === "bullmq";
  return String(isQueued ? valueAt(value, ["queue", "site"]) : value["company"]);
}
