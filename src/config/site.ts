/** What is right or wrong on this machine only: the tables and the folders that a configuration names. Asks nobody. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { FolderNeed, FolderRight } from "../core/contract.ts";
import type { TableReport } from "./crossref.ts";
import type { KnownMapping } from "./flows.ts";
import { causeOf, type Complaint } from "./problems.ts";
import { thisUser } from "../store/rights.ts";

/**
 * The tables that mappings need and that are missing, or lack a column: each once, with the first mapping that needs it.
 * `folder`: where tables are, as messages may call it.
 */
export function* complaintsOfTables(
  mappings: readonly KnownMapping[],
  found: ReadonlyMap<string, TableReport>,
  folder: string,
): Generator<Complaint & { readonly mapping: string }> {
  const needed = new Map<string, { columns: Set<string>; by: string[] }>();
  for (const { name, tables = {} } of mappings)
    for (const [table, columns] of Object.entries(tables)) {
      const known = needed.get(table) ?? { columns: new Set(), by: [] };
      needed.set(table, known);
      for (const column of columns) known.columns.add(column);
      if (!known.by.includes(name)) known.by.push(name);
    }
  for (const [table, { columns, by }] of needed) {
    const [mapping = ""] = by;
    const reading = `which ${by.join(" and ")} read${by.length === 1 ? "s" : ""}`;
    const header = [...columns].join(",");
    const report = found.get(table);
    if (report === undefined)
      yield {
        mapping,
        message: `${folder} has no table ${table}.csv, ${reading}`,
        remedy: `Create it with the header row ${header}; a row that is missing in it later puts a document into quarantine, not more.`,
      };
    // A table that cannot be read is complained of itself.
    if (report === undefined || report.faults.length > 0) continue;
    const [, ...read] = columns;
    const missing = read.filter((column) => !report.columns.slice(1).includes(column));
    if (missing.length > 0)
      yield {
        mapping,
        message: `${report.file}:1 has no column ${missing.join(", ")}, ${reading}; it has ${report.columns.join(", ")}`,
        remedy: `Its header row is ${header}: the key first. Further columns do no harm.`,
      };
  }
}

const RIGHTS = {
  r: { code: constants.R_OK, means: "list it" },
  w: { code: constants.W_OK, means: "create and rename files in it" },
  x: { code: constants.X_OK, means: "enter it" },
} as const satisfies Record<FolderRight, { code: number; means: string }>;

/**
 * Why the user that runs this cannot use a folder as the service must; null: it can. `called`: what messages call a path
 * that may not be shown.
 */
export function complaintOfFolder(
  { path, rights, created }: FolderNeed,
  called: (path: string) => string,
): Complaint | null {
  const [, ...above] = upwards(path);
  const barrier = above
    .toReversed()
    .find((up) => kindOf(up) === "file" || (existsSync(up) && !may(up, "x")));
  const at = barrier ?? (created ? (upwards(path).find((up) => existsSync(up)) ?? path) : path);
  const kind = kindOf(at);
  if (kind === "missing")
    return {
      message: `there is no folder ${called(at)}`,
      remedy: "Create it, mount the share that it is on, or correct the path.",
    };
  if (kind === "file")
    return { message: `${called(at)} is a file, not a folder`, remedy: "Move it aside." };
  const wanted: readonly FolderRight[] = at === path ? rights : at === barrier ? ["x"] : ["w", "x"];
  const missing = wanted.filter((right) => !may(at, right));
  return missing.length === 0 ? null : lacking(missing, at, called);
}

function lacking(
  rights: readonly FolderRight[],
  at: string,
  called: (path: string) => string,
): Complaint {
  if (rights.some((right) => denial(at, right) === "EROFS"))
    return {
      message: `nobody can write in ${called(at)}: it is mounted read only`,
      remedy:
        "Mount it writable. Under systemd name it in ReadWritePaths=, in a container give it a volume of its own.",
    };
  const user = thisUser();
  const names = rights.map((right) => `${right} (${RIGHTS[right].means})`).join(" and ");
  const { mode, uid } = statSync(at);
  const octal = (mode & 0o7777).toString(8).padStart(4, "0");
  return {
    message: `the user ${user} lacks the right ${names} on ${called(at)} (mode ${octal}, of uid ${uid})`,
    remedy: `Give the service's user this right, by owner, group, mode or ACL: setfacl -m u:${user}:${rights.join("")} FOLDER. If the service is another user, run check as that one.`,
  };
}

/** The path, and every folder above it. */
function upwards(path: string): string[] {
  const up = dirname(path);
  return up === path ? [path] : [path, ...upwards(up)];
}

const may = (path: string, right: FolderRight): boolean => denial(path, right) === null;

/** The code of the system's refusal (`EACCES`, `EROFS`); null: the right is there. */
function denial(path: string, right: FolderRight): string | null {
  try {
    accessSync(path, RIGHTS[right].code);
    return null;
  } catch (error) {
    return causeOf(error);
  }
}

/** What cannot be looked at is missing: a folder above it bars the way, and is told first. */
function kindOf(path: string): "folder" | "file" | "missing" {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return "missing";
  }
}
