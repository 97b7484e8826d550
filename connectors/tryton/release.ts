/**
 * What differs between the releases of Tryton that this connector works with. Nothing else here asks which one it is.
 * A release that no test runs against is taken for the newest tested one that is not newer, and `doctor` says so.
 */
import { createHash } from "node:crypto";

/** A button's name in a release. */
export const buttonIn = ({ buttons }: Release, name: string): string =>
  (buttons as Readonly<Record<string, string>>)[name] ?? name;

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
  /** Buttons of shipments that releases call otherwise; the others have one name. */
  readonly buttons: Readonly<Record<"assign" | "end", string>>;
  /**
   * Fields of a new shipment that clients fill in, each with the fields of the warehouse (`stock.location`) of which the
   * first that is not empty is its value.
   */
  readonly places: Readonly<Record<"out" | "in", Readonly<Record<string, readonly string[]>>>>;
  /**
   * When may an order ignore a move that will not come: `before` it is cancelled, written on the order's line, or
   * `after`, by the wizard of the order's exception?
   */
  readonly ignores: "before" | "after";
  /** `party.address`: the building, or whoever it is sent to. */
  readonly addressName: "name" | "building_name";
  /** `ir.model`: a model's name. */
  readonly modelName: "model" | "name";
  /** `ir.model.button`, `ir.model.field`: the name of the model that they belong to, in domains and reads. */
  readonly ofModel: "model.model" | "model";
  /** Fields of the pay wizard's first form beyond those that all releases have. `party`: the invoice's, a database id. */
  readonly payForm: (party: number) => object;
  /** The name by which a warning of this kind about one invoice (a database id) is accepted. */
  readonly warningOf: (kind: string, invoice: number) => string;
  /** Calls by which a user (a database id) accepts warnings of these names, once each: method and parameters. */
  readonly accepting: (user: number, names: readonly string[]) => readonly Call[];
  /** Models that need no right: the server checks by itself that a user changes only what is his. */
  readonly ownModels: readonly string[];
  /** May clients work with `ir.model.data`? `guard: claim` does. */
  readonly claims: boolean;
}

type Call = readonly [method: string, params: readonly unknown[]];

type Names = Omit<Release, "version" | "series">;

const v6: Names = {
  pathOf: (database) => `/${encodeURIComponent(database)}/`,
  moveUnit: "uom",
  // It picks what nobody has assigned.
  buttons: { assign: "pick", end: "done" },
  places: { out: {}, in: {} },
  ignores: "before",
  addressName: "name",
  modelName: "model",
  ofModel: "model.model",
  payForm: () => ({ currency_digits: 2 }),
  warningOf: (kind, invoice) => `${kind}_${invoice}`,
  accepting: (user, names) => [
    ["model.res.user.warning.create", [names.map((name) => ({ user, name, always: false }))]],
  ],
  ownModels: [],
  claims: true,
};

const v8: Names = {
  pathOf: (database) => `/${encodeURIComponent(database)}/rpc/`,
  moveUnit: "unit",
  buttons: { assign: "assign_force", end: "do" },
  places: {
    out: {
      warehouse_storage: ["picking_location", "storage_location"],
      warehouse_output: ["output_location"],
    },
    in: { warehouse_input: ["input_location"], warehouse_storage: ["storage_location"] },
  },
  ignores: "after",
  addressName: "building_name",
  modelName: "name",
  ofModel: "model",
  payForm: (party) => ({ payee: party }),
  warningOf: (kind, invoice) =>
    `${createHash("md5").update(`account.invoice,${invoice}`).digest("hex")}.${kind}`,
  accepting: (_user, names) => names.map((name) => ["model.res.user.warning.skip", [name, false]]),
  ownModels: ["res.user.warning"],
  claims: false,
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
