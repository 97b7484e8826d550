/** The rights that the synchronisation's user needs, by what it does. */
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import type { Check } from "../../src/books/examine.ts";
import { files } from "./attachments.ts";
import { buttonIn } from "./release.ts";
import { rowOf, rowsOf } from "./search.ts";

interface Area {
  readonly what: string;
  /** Tryton's own groups that give these rights. */
  readonly groups: string;
  /** Each with the rights it needs. */
  readonly models: Models;
  readonly buttons?: Readonly<Record<string, string>>;
}

type Right = "read" | "write" | "create" | "delete";
type Models = Readonly<Record<string, readonly Right[]>>;

const models =
  (...rights: readonly Right[]) =>
  (names: string): Models =>
    Object.fromEntries(names.split(" ").map((name) => [name, rights]));

const read = models("read");
const write = models("read", "write", "create");
/** Drafts that come to nothing, and lines that change, are taken back. */
const all = models("read", "write", "create", "delete");

const areas: readonly Area[] = [
  {
    what: "codes and prices",
    groups: "Account (8.0: Accounting), Stock, Sales",
    models: {
      ...read("account.account account.journal account.period account.invoice.payment_term"),
      ...read("account.invoice.payment.method product.product product.uom product.category"),
      ...read("product.price_list product.price_list.line stock.location"),
    },
  },
  {
    what: "parties",
    groups: "Party Administration",
    models: write("party.party party.address party.identifier"),
  },
  {
    what: "invoices and payments",
    groups: "Account (8.0: Accounting)",
    models: {
      ...all("account.invoice account.invoice.line account.invoice.tax"),
      ...read("account.move"),
      // A due date that changes is written on it.
      "account.move.line": ["read", "write"],
      ...read("account.move.reconciliation"),
      ...write("res.user.warning ir.note"),
    },
    buttons: { "account.invoice": "post cancel pay" },
  },
  {
    what: "orders",
    groups: "Sales, Purchase",
    models: {
      ...write("sale.sale"),
      ...all("sale.line"),
      ...write("purchase.purchase"),
      ...all("purchase.line"),
    },
    buttons: {
      "sale.sale": "draft quote confirm cancel",
      "purchase.purchase": "draft quote confirm cancel",
    },
  },
  {
    what: "deliveries",
    groups: "Stock (8.0: and Stock Force Assignment)",
    models: { ...write("stock.shipment.out stock.shipment.in"), ...all("stock.move") },
    buttons: {
      "stock.shipment.out": "draft wait assign pick pack end cancel",
      "stock.shipment.in": "draft receive end cancel",
      "stock.move": "cancel",
    },
  },
];

const attachments: Area = {
  what: "PDFs (attach: pdf)",
  groups: "one with read and create on ir.attachment",
  models: models("read", "create")("ir.attachment"),
};

const claims: Area = {
  what: "claims (guard: claim)",
  groups: "one with create, write and delete on ir.model.data",
  models: all("ir.model.data"),
};

/** @param parts as {@link Needs} has them */
export function rightsLooks(books: Books, parts: ReadonlySet<string>): Check[] {
  const { guard } = books.config;
  const attaches = Object.keys(files).some((sink) => parts.has(sink));
  const needed = [
    ...areas,
    ...(attaches ? [attachments] : []),
    ...(guard === "claim" ? [claims] : []),
  ];
  const looks = needed.map((area): Check => [
    `rights: ${area.what}`,
    () => rightsFault(books, area),
  ]);
  if (guard !== "module") return looks;
  return [...looks, [`module ${SERVER_MODULE}`, () => moduleFault(books)]];
}

async function rightsFault(books: Books, area: Area): Promise<Fault | null> {
  const { modelName, ownModels, claims: mayClaim } = await books.tryton.release();
  if (area === claims && !mayClaim) return NO_CLAIMS;
  const names = Object.keys(area.models).filter((name) => !ownModels.includes(name));
  const domain = [[modelName, "in", names]];
  const rows = await rowsOf<Record<string, unknown>>(books, "ir.model", domain, modelName);
  const without = names.filter((name) => !rows.some((row) => row[modelName] === name));
  if (without.length > 0)
    return {
      code: "no-module",
      message: `Tryton does not have ${without.join(", ")}`,
      next: "Activate the modules that the connector's README names, with trytond-admin.",
    };
  const lacking = [
    ...(await lackingRights(books, area, names)),
    ...(await lackingButtons(books, area)),
  ];
  if (lacking.length === 0) return null;
  return {
    code: "no-right",
    message: `the user may not: ${lacking.join(", ")}`,
    next: `Add the user to these groups in Tryton: ${area.groups}.`,
  };
}

async function lackingRights(
  { tryton }: Books,
  area: Area,
  names: readonly string[],
): Promise<string[]> {
  const access = await tryton.call<Record<string, Record<Right, unknown>>>(
    "model.ir.model.access.get_access",
    [names],
  );
  return names.flatMap((model) =>
    (area.models[model] ?? [])
      .filter((right) => !access[model]?.[right])
      .map((right) => `${right} ${model}`),
  );
}

async function lackingButtons(books: Books, { buttons = {} }: Area): Promise<string[]> {
  const release = await books.tryton.release();
  const lacking: string[] = [];
  const groups = await groupsOfUser(books);
  for (const [model, names] of Object.entries(buttons)) {
    const domain = [
      [release.ofModel, "=", model],
      ["name", "in", names.split(" ").map((name) => buttonIn(release, name))],
    ];
    const rows = await rowsOf<Button>(books, "ir.model.button", domain, "name groups");
    for (const row of rows)
      if (row.groups.length > 0 && !row.groups.some((id) => groups.has(id)))
        lacking.push(`button ${row.name} of ${model}`);
  }
  return lacking;
}

interface Button {
  readonly name: string;
  readonly groups: readonly number[];
}

/** With the groups above them. */
async function groupsOfUser(books: Books): Promise<ReadonlySet<number>> {
  const { user } = await books.tryton.session();
  const { groups } = await rowOf<{ groups: number[] }>(books, "res.user", user, "groups");
  const rows = await rowsOf<{ id: number; parent: number | null }>(
    books,
    "res.group",
    [],
    "parent",
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

async function moduleFault({ tryton }: Books): Promise<Fault | null> {
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
