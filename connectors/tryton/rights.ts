/** The rights that the synchronisation's user needs, by what it does. */
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import type { Check } from "../../src/books/examine.ts";
import { buttonIn } from "./release.ts";
import type { Tryton } from "./wire.ts";

interface Area {
  readonly what: string;
  /** Tryton's own groups that give these rights. */
  readonly groups: string;
  /** Models, each with the rights it needs. */
  readonly models: Readonly<Record<string, readonly Right[]>>;
  readonly buttons?: Readonly<Record<string, readonly string[]>>;
}

type Right = "read" | "write" | "create" | "delete";

const READ: readonly Right[] = ["read"];
const WRITE: readonly Right[] = ["read", "write", "create"];
/** Drafts that come to nothing, and lines that change, are taken back. */
const ALL: readonly Right[] = [...WRITE, "delete"];

const areas: readonly Area[] = [
  {
    what: "codes and prices",
    groups: "Account (8.0: Accounting), Stock, Sales",
    models: {
      "account.account": READ,
      "account.journal": READ,
      "account.period": READ,
      "account.invoice.payment_term": READ,
      "account.invoice.payment.method": READ,
      "product.product": READ,
      "product.uom": READ,
      "product.category": READ,
      "product.price_list": READ,
      "product.price_list.line": READ,
      "stock.location": READ,
    },
  },
  {
    what: "parties",
    groups: "Party Administration",
    models: { "party.party": WRITE, "party.address": WRITE, "party.identifier": WRITE },
  },
  {
    what: "invoices and payments",
    groups: "Account (8.0: Accounting)",
    models: {
      "account.invoice": ALL,
      "account.invoice.line": ALL,
      "account.invoice.tax": ALL,
      "account.move": READ,
      // A due date that changes is written on it.
      "account.move.line": ["read", "write"],
      "account.move.reconciliation": READ,
      "res.user.warning": WRITE,
      "ir.note": WRITE,
    },
    buttons: { "account.invoice": ["post", "cancel", "pay"] },
  },
  {
    what: "orders",
    groups: "Sales, Purchase",
    models: {
      "sale.sale": WRITE,
      "sale.line": ALL,
      "purchase.purchase": WRITE,
      "purchase.line": ALL,
    },
    buttons: {
      "sale.sale": ["draft", "quote", "confirm", "cancel"],
      "purchase.purchase": ["draft", "quote", "confirm", "cancel"],
    },
  },
  {
    what: "deliveries",
    groups: "Stock (8.0: and Stock Force Assignment)",
    models: { "stock.shipment.out": WRITE, "stock.shipment.in": WRITE, "stock.move": ALL },
    buttons: {
      "stock.shipment.out": ["draft", "wait", "assign", "pick", "pack", "end", "cancel"],
      "stock.shipment.in": ["draft", "receive", "end", "cancel"],
      "stock.move": ["cancel"],
    },
  },
];

const claims: Area = {
  what: "claims (guard: claim)",
  groups: "one with create, write and delete on ir.model.data",
  models: { "ir.model.data": ALL },
};

export function rightsLooks({ tryton, config }: Books): Check[] {
  const all = config.guard === "claim" ? [...areas, claims] : areas;
  const looks = all.map((area): Check => [`rights: ${area.what}`, () => rightsFault(tryton, area)]);
  if (config.guard !== "module") return looks;
  return [...looks, [`module ${SERVER_MODULE}`, () => moduleFault(tryton)]];
}

async function rightsFault(tryton: Tryton, area: Area): Promise<Fault | null> {
  if (area === claims && !(await tryton.release()).claims) return NO_CLAIMS;
  const { modelName, ownModels } = await tryton.release();
  const models = Object.keys(area.models).filter((name) => !ownModels.includes(name));
  const params = [[[modelName, "in", models]], 0, null, null, [modelName]];
  const rows = await tryton.call<Record<string, unknown>[]>("model.ir.model.search_read", params);
  const without = models.filter((name) => !rows.some((row) => row[modelName] === name));
  if (without.length > 0)
    return {
      code: "no-module",
      message: `Tryton does not have ${without.join(", ")}`,
      next: "Activate the modules that the connector's README names, with trytond-admin.",
    };
  const lacking = [
    ...(await lackingRights(tryton, area, models)),
    ...(await lackingButtons(tryton, area)),
  ];
  if (lacking.length === 0) return null;
  return {
    code: "no-right",
    message: `the user may not: ${lacking.join(", ")}`,
    next: `Add the user to these groups in Tryton: ${area.groups}.`,
  };
}

async function lackingRights(
  tryton: Tryton,
  { models }: Area,
  names: readonly string[],
): Promise<string[]> {
  const access = await tryton.call<Record<string, Record<Right, unknown>>>(
    "model.ir.model.access.get_access",
    [names],
  );
  return names.flatMap((model) =>
    (models[model] ?? [])
      .filter((right) => !access[model]?.[right])
      .map((right) => `${right} ${model}`),
  );
}

async function lackingButtons(tryton: Tryton, { buttons = {} }: Area): Promise<string[]> {
  const release = await tryton.release();
  const lacking: string[] = [];
  const groups = await groupsOfUser(tryton);
  for (const [model, names] of Object.entries(buttons)) {
    const domain = [
      [release.ofModel, "=", model],
      ["name", "in", names.map((name) => buttonIn(release, name))],
    ];
    const rows = await tryton.call<{ name: string; groups: number[] }[]>(
      "model.ir.model.button.search_read",
      [domain, 0, null, null, ["name", "groups"]],
    );
    for (const row of rows)
      if (row.groups.length > 0 && !row.groups.some((id) => groups.has(id)))
        lacking.push(`button ${row.name} of ${model}`);
  }
  return lacking;
}

/** With the groups above them. */
async function groupsOfUser(tryton: Tryton): Promise<ReadonlySet<number>> {
  const { user } = await tryton.session();
  const [{ groups }] = await tryton.call<[{ groups: number[] }]>("model.res.user.read", [
    [user],
    ["groups"],
  ]);
  const rows = await tryton.call<{ id: number; parent: number | null }[]>(
    "model.res.group.search_read",
    [[], 0, null, null, ["parent"]],
  );
  const found = new Set(groups);
  for (const id of found) {
    const parent = rows.find((row) => row.id === id)?.parent ?? null;
    if (parent !== null) found.add(parent);
  }
  return found;
}

const NO_CLAIMS: Fault = {
  code: "no-claims",
  message: "guard is claim, and this release of Tryton lets no client work with ir.model.data",
  next: "Set guard to module, or to search if fuelbridge is the only program that brings these documents.",
};

async function moduleFault(tryton: Tryton): Promise<Fault | null> {
  const domain = [
    ["name", "=", SERVER_MODULE],
    ["state", "=", "activated"],
  ];
  const isThere = (await tryton.call<number>("model.ir.module.search_count", [domain])) > 0;
  const ids = [
    ["module", "=", SERVER_MODULE],
    ["name", "=", "external_id"],
    [(await tryton.release()).ofModel, "in", GUARDED],
  ];
  const guarded = await tryton.call<number>("model.ir.model.field.search_count", [ids]);
  if (isThere && guarded === GUARDED.length) return null;
  return {
    code: "no-module",
    message: isThere
      ? `the module ${SERVER_MODULE} of Tryton is of an older version`
      : `Tryton does not have the module ${SERVER_MODULE}`,
    next: "Install and activate it as the connector's README says, or set guard to search or claim.",
  };
}

/** What the module gives an id of the platform to. */
const GUARDED = ["account.invoice", "account.move"];

const SERVER_MODULE = "fuelbridge_guard";
