/**
 * What keeps an invoice or a payment from being made twice in Tryton (src/ledger/guard.ts). `search` keeps nobody else out.
 * `claim` lets one send through: an id can be taken once in `ir.model.data`. `module` has the database refuse the second
 * one when it is made.
 */
import { claimGuard, type Guard, noGuard } from "../../src/ledger/guard.ts";
import type { Books } from "./books.ts";
import { busy, TRYTON, TrytonError } from "./errors.ts";
import type { InvoiceType } from "./invoice-facts.ts";
import { idsOrNone, texts, textsOrNone } from "./rows.ts";
import { ofCompany, rowsOf, where } from "./search.ts";

/** @param model what is made: `account.invoice` @param type of the document: both sides may be companies of one database */
export function openGuard(books: Books, model: string, type: InvoiceType): Guard {
  switch (books.config.guard) {
    case "search":
      return noGuard;
    case "claim":
      return claimsIn(books, model, type);
    case "module":
      return moduleGuard(books, model, type);
  }
}

/** Claims in `ir.model.data`, where Tryton gives each name once. */
function claimsIn(books: Books, model: string, type: InvoiceType): Guard {
  const { tryton, config } = books;
  const call = <T>(method: string, ...params: unknown[]): Promise<T> =>
    tryton.call<T>(`model.ir.model.data.${method}`, params);
  const suffix = async () => `.${type}.${(await tryton.session()).company}`;
  return claimGuard({
    errors: TRYTON.errors,
    ownerMs: 2 * config.deadlineMs + config.settleMs,
    async of(marks) {
      const ending = await suffix();
      const names = marks.map((mark) => `${mark}${ending}`);
      const domain = where({ "module =": MODULE, "model =": model, "fs_id in": names });
      const rows = await rowsOf(books, "ir.model.data", domain, CLAIM);
      return rows.map(({ id, fs_id, db_id, create_date, write_date }) => ({
        id,
        mark: fs_id.slice(0, -ending.length),
        record: db_id,
        ageMs: Date.parse(`${write_date ?? create_date}Z`) - Date.parse(`${create_date}Z`),
      }));
    },
    async take(marks) {
      const ending = await suffix();
      const rows = marks.map((mark) => ({
        module: MODULE,
        model,
        fs_id: `${mark}${ending}`,
        noupdate: true,
      }));
      return call<number[]>("create", rows).catch(busyWhen(/must be unique/));
    },
    touch: (ids) => call("write", ids, { noupdate: true }),
    keep: (records) =>
      call("write", ...[...records].flatMap(([id, db_id]) => [[id], { db_id }] as const)),
    drop: (ids) => call("delete", ids),
    busy,
  });
}

const CLAIM = {
  ...texts("fs_id create_date"),
  ...idsOrNone("db_id"),
  ...textsOrNone("write_date"),
};

const MODULE = "fuelbridge";
const JUST_TAKEN_MS = 1_000;

/** Another send of the same document came first: what it made is found the next time. */
const busyWhen =
  (words: RegExp) =>
  (error: unknown): never => {
    if (error instanceof TrytonError && words.test(error.message))
      throw busy("another send of the same document came first", JUST_TAKEN_MS);
    throw error;
  };

/** The server module of `server-module/`: the platform's id is unique there. */
const moduleGuard = (books: Books, model: string, type: InvoiceType): Guard => ({
  ...noGuard,
  isErps: true,
  async known(marks) {
    if (marks.length === 0) return new Map();
    const domain = where({
      ...(await ofCompany(books)),
      "external_id in": marks,
      ...(model === "account.invoice" ? { "type =": type } : {}),
    });
    const rows = await rowsOf(books, model, domain, texts("external_id"));
    return new Map(rows.map(({ id, external_id }) => [external_id, id]));
  },
  create: (_, make) => make().catch(busyWhen(/FUELBRIDGE-DUPLICATE/)),
});
