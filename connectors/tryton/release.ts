/**
 * What differs between the releases of Tryton that this connector works with. Nothing else here asks which one it is.
 * A release that no test runs against is taken for the newest tested one that is not newer, and `doctor` says so.
 */
import { createHash } from "node:crypto";

/** Series that all tests of this connector run against: test/support/tryton-releases.ts. */
export const TESTED: readonly string[] = ["6.0", "8.0"];

export interface Release {
  /** What the server says of itself: `6.0.29`; newer servers say their series only. */
  readonly version: string;
  /** Major and minor: `8.0`. */
  readonly series: string;
  /** The path, below the server's address, of the calls of a database. */
  readonly pathOf: (database: string) => string;
  /** `stock.move`: its unit of measure. */
  readonly moveUnit: "uom" | "unit";
  /** The button that ends a shipment. */
  readonly end: "done" | "do";
  /** `ir.model`: a model's name. */
  readonly modelName: "model" | "name";
  /** `ir.model.button`, `ir.model.field`: the name of the model that they belong to, in domains and reads. */
  readonly ofModel: "model.model" | "model";
  /** Fields of the pay wizard's first form beyond those that all releases have. `party`: the invoice's, a database id. */
  readonly payForm: (party: number) => object;
  /** The name by which a warning of this kind about one invoice (a database id) is accepted. */
  readonly warningOf: (kind: string, invoice: number) => string;
}

type Names = Omit<Release, "version" | "series">;

const v6: Names = {
  pathOf: (database) => `/${encodeURIComponent(database)}/`,
  moveUnit: "uom",
  end: "done",
  modelName: "model",
  ofModel: "model.model",
  payForm: () => ({ currency_digits: 2 }),
  warningOf: (kind, invoice) => `${kind}_${invoice}`,
};

const v8: Names = {
  pathOf: (database) => `/${encodeURIComponent(database)}/rpc/`,
  moveUnit: "unit",
  end: "do",
  modelName: "name",
  ofModel: "model",
  payForm: (party) => ({ payee: party }),
  warningOf: (kind, invoice) =>
    `${createHash("md5").update(`account.invoice,${invoice}`).digest("hex")}.${kind}`,
};

/** Where a server may be asked for its version (`common.server.version`): newer releases first. */
export const VERSION_PATHS = ["/rpc/", "/"] as const;

export function releaseOf(version: string): Release {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return { ...(major >= 8 ? v8 : v6), version, series: `${major}.${minor}` };
}

/** The kind of a warning, by its name: `invoice_payment_term_12`, `<md5>.invoice_payment_term`. */
export const isWarningOf = (kind: string, name: string): boolean =>
  name.startsWith(`${kind}_`) || name.endsWith(`.${kind}`);

/** Tryton numbers in the order of dates, and a later one has its number. The sentence: Tryton sends no code. */
export const DATE_ORDER = /must set an (?:accounting|invoice) date after/;
