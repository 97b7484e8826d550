/**
 * The tables that fuelbridge writes and the ERP's job reads and answers, as `config/sql-staging/schema.sql` has them: what is written,
 * how much a column keeps and what doctor compares follow from that text.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { shippedFolder } from "../../src/formats/table/profile.ts";
import type { Dialect } from "../../src/ledger/sql.ts";

/** What the two servers write differently. */
const WORDS = {
  postgresql: {
    identity: "bigint not null generated always as identity",
    instant: "timestamptz",
    now: "current_timestamp",
    options: "",
  },
  mariadb: {
    identity: "bigint not null auto_increment",
    instant: "datetime(6)",
    now: "current_timestamp(6)",
    options: " engine = InnoDB, character set utf8mb4, collate utf8mb4_nopad_bin",
  },
} as const;

export const sqlOf = (name: string): string =>
  readFileSync(join(shippedFolder("sql-staging") ?? "", `${name}.sql`), "utf8");

type Word = keyof (typeof WORDS)[Dialect];

/** What creates the tables. */
export const schemaOf = (dialect: Dialect): string =>
  sqlOf("schema").replaceAll(/\{(\w+)\}/g, (_, word: Word) => WORDS[dialect][word]);

/**
 * Every column and index that the schema has, as the server describes it: `fuelbridge_tax.account` is `varchar(80) not null`,
 * `fuelbridge_once` is `unique (id, kind, version)`.
 */
export function partsOf(dialect: Dialect): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  let table = "";
  for (const line of schemaOf(dialect).split("\n")) {
    table = /^create table (\w+)/.exec(line)?.[1] ?? table;
    const [, name, type = ""] =
      /^ {2}(?!primary|foreign)(\w+) (\w+(?:\([\d, ]+\))?)/.exec(line) ?? [];
    const none = line.includes("not null") ? " not null" : "";
    if (name !== undefined) parts.set(`${table}.${name}`, type.replace("(6)", "") + none);
    const [, unique = "", index, on = ""] =
      /^create (unique )?index (\w+) on \w+ (.*);/.exec(line) ?? [];
    if (index !== undefined) parts.set(index, unique + on);
  }
  return parts;
}
