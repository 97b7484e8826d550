/** The rights that the synchronisation's user needs in Tryton, by what it does. */
import type { Fault } from "../../src/core/record.ts";
import type { Check } from "../../src/ledger/examine.ts";
import type { Books } from "./books.ts";
import * as rpc from "./rows.ts";
import { buttonIn, TRYTON } from "./wire.ts";

interface Area {
  /** What needs them: `orders`. */
  readonly what: string;
  /** Tryton's own groups that give them, for people. */
  readonly groups: string;
  /** Models by the rights that each needs: `{ "read write": "account.move.line" }`. */
  readonly models: Readonly<Record<string, string>>;
  /** Buttons by the model that they belong to: `{ "sale.sale": "quote confirm" }`. */
  readonly buttons?: Readonly<Record<string, string>>;
}

const READ = "read";
const WRITE = "read write create";
/** Drafts that come to nothing, and lines that change, are taken back. */
const ALL = "read write create delete";

const areas: readonly Area[] = [
  {
    what: "codes and prices",
    groups: "Account (8.0: Accounting), Stock, Sales",
    models: {
      [READ]:
        "account.account account.journal account.period account.invoice.payment_term " +
        "account.invoice.payment.method product.product product.uom product.category " +
        "product.price_list product.price_list.line stock.location",
    },
  },
  {
    what: "parties",
    groups: "Party Administration",
    models: { [WRITE]: "party.party party.address party.identifier" },
  },
  {
    what: "invoices and payments",
    groups: "Account (8.0: Accounting)",
    models: {
      [ALL]: "account.invoice account.invoice.line account.invoice.tax",
      [READ]: "account.move account.move.reconciliation",
      // A due date that changes is written on it.
      "read write": "account.move.line",
      [WRITE]: "res.user.warning ir.note",
    },
    buttons: { "account.invoice": "post cancel pay" },
  },
  {
    what: "orders",
    groups: "Sales, Purchase",
    models: { [WRITE]: "sale.sale purchase.purchase", [ALL]: "sale.line purchase.line" },
    buttons: {
      "sale.sale": "draft quote confirm cancel",
      "purchase.purchase": "draft quote confirm cancel",
    },
  },
  {
    what: "deliveries",
    groups: "Stock (8.0: and Stock Force Assignment)",
    models: { [WRITE]: "stock.shipment.out stock.shipment.in", [ALL]: "stock.move" },
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
  models: { "read create": "ir.attachment" },
};

const claims: Area = {
  what: "claims (guard: claim)",
  groups: "one with create, write and delete on ir.model.data",
  models: { [ALL]: "ir.model.data" },
};

/** @param parts as {@link Needs} has them */
export function rightsChecks(books: Books, parts: ReadonlySet<string>): Check[] {
  const { guard } = books.config;
  const looks = [
    ...areas,
    ...([...parts].some((sink) => sink.endsWith("Files")) ? [attachments] : []),
    ...(guard === "claim" ? [claims] : []),
  ].map((area): Check => [`rights: ${area.what}`, () => rightsFault(books, area)]);
  if (guard !== "module") return looks;
  return [...looks, [`module ${SERVER_MODULE}`, () => moduleFault(books)]];
}

async function rightsFault(books: Books, area: Area): Promise<Fault | null> {
  const {
    modelName,
    ofModel,
    ownModels,
    claims: canClaim,
    ...names
  } = await books.tryton.release();
  if (area === claims && !canClaim) return NO_CLAIMS;
  const needed = Object.entries(area.models).flatMap(([its, models]) =>
    models.split(" ").map((model) => ({ model, rights: its.split(" ") })),
  );
  const models = needed.map(({ model }) => model);
  const domain = rpc.where({ [`${modelName} in`]: models });
  const name = rpc.called(modelName, rpc.as<string>());
  const rows = await rpc.rowsOf(books, "ir.model", domain, { name });
  const present = new Set([...rows.map((row) => row.name), ...ownModels]);
  const without = models.filter((model) => !present.has(model));
  if (without.length > 0)
    return {
      code: "no-module",
      message: `${TRYTON.name} does not have ${without.join(", ")}`,
      next: "Activate the modules that the connector's README names, with trytond-admin.",
    };
  const checked = models.filter((model) => !ownModels.includes(model));
  const method = "model.ir.model.access.get_access";
  const access = await books.tryton.call<Access>(method, [checked]);
  const lacking = needed
    .filter(({ model }) => checked.includes(model))
    .flatMap(({ model, rights }) =>
      rights.filter((right) => !access[model]?.[right]).map((right) => `${right} ${model}`),
    );
  const own = area.buttons === undefined ? null : await groupsOfUser(books);
  for (const [model, its] of Object.entries(area.buttons ?? {})) {
    const buttons = its.split(" ").map((button) => buttonIn(names, button));
    const those = rpc.where({ [`${ofModel} =`]: model, "name in": buttons });
    for (const { name: button, groups } of await rpc.rowsOf(
      books,
      "ir.model.button",
      those,
      BUTTON,
    ))
      if (groups.length > 0 && !groups.some((id) => own?.has(id)))
        lacking.push(`button ${button} of ${model}`);
  }
  if (lacking.length === 0) return null;
  return {
    code: "no-right",
    message: `the user may not: ${lacking.join(", ")}`,
    next: `Add the user to these groups in ${TRYTON.name}: ${area.groups}.`,
  };
}

type Access = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
const BUTTON = { ...rpc.texts("name"), ...rpc.idLists("groups") };

/** With the groups above them. */
async function groupsOfUser(books: Books): Promise<ReadonlySet<number>> {
  const { user } = await books.tryton.session();
  const { groups } = await rpc.rowOf(books, "res.user", user, rpc.idLists("groups"));
  const rows = await rpc.rowsOf(books, "res.group", [], rpc.idsOrNone("parent"));
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

async function moduleFault(books: Books): Promise<Fault | null> {
  const { ofModel } = await books.tryton.release();
  const module = rpc.where({ "name =": SERVER_MODULE, "state =": "activated" });
  const isThere = (await rpc.countOf(books, "ir.module", module)) > 0;
  const guarded = await rpc.countOf(
    books,
    "ir.model.field",
    rpc.where({ "module =": SERVER_MODULE, "name =": "external_id", [`${ofModel} in`]: GUARDED }),
  );
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
