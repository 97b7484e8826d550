/** The part of a list's SQL that says which records, and in which order (part 4, query parameters). */
import { orderStatuses } from "../platform/contract/order.ts";
import type { Kind } from "./kinds.ts";
import { fold, hasWords } from "./shelves.ts";

export interface Filters {
  readonly status?: string | undefined;
  readonly parent?: string | undefined;
  readonly product?: string | undefined;
  readonly search?: string | undefined;
}

export interface Sort {
  readonly by: string;
  readonly order: string;
}

export interface Selection {
  /** `from ... where ...`: sights, to which more conditions may be added. */
  readonly from: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export function selection(kind: Kind, shelf: number, filters: Filters): Selection {
  const { status, parent, product } = filters;
  const search = filters.search === undefined ? undefined : fold(filters.search);
  const words = search !== undefined && hasWords(kind) ? wordsOf(search) : "";
  const conditions = [
    "shelf = :shelf",
    ...(words === "" ? [] : ["words match :words"]),
    ...(status === undefined ? [] : ["status = :status"]),
    ...(parent === undefined ? [] : ["parent = :parent"]),
    ...(product === undefined ? [] : ["instr(products, :product) > 0"]),
    ...(search === undefined ? [] : ["instr(search, :search) > 0"]),
  ];
  const values = {
    shelf,
    status,
    parent,
    search,
    product: product === undefined ? undefined : `\n${fold(product)}\n`,
    words: words === "" ? undefined : words,
  };
  const sights =
    words === "" ? "sight" : "words cross join sight indexed by sight_seq on seq = words.rowid";
  return {
    from: `from ${sights} where ${conditions.join(" and ")}`,
    values: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
  };
}

/** Every three letters in a row: what contains the text contains all of them. Nothing for a shorter text. */
function wordsOf(search: string): string {
  const letters = Array.from(search);
  const words = letters.slice(2).map((_, at) => letters.slice(at, at + 3).join(""));
  return [...new Set(words)].map((word) => `"${word.replaceAll('"', '""')}"`).join(" AND ");
}

/** Status sorts by the life cycle; what is null or unknown comes last in both directions. */
export function ordering(sort: Sort | undefined): string {
  const direction = sort?.order === "asc" ? "asc" : "desc";
  switch (sort?.by ?? "createdAt") {
    case "updatedAt":
      return `updated ${direction}, id ${direction}`;
    case "parent":
      return `parent ${direction}, created, id`;
    case "requestedDate":
      return `requested is null, requested ${direction}, id ${direction}`;
    case "status":
      return `${LIFE} is null, ${LIFE} ${direction}, created desc, id desc`;
    default:
      return `created ${direction}, id ${direction}`;
  }
}

const LIFE = `case status ${orderStatuses.map((status, at) => `when '${status}' then ${at}`).join(" ")} end`;
