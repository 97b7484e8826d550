/** The rights that the synchronisation's user needs in Tryton, by what it does (src/ledger/examine-rights.ts). */
import type { Check } from "../../src/ledger/examine.ts";
import { type Rights, type RightsArea, rightsCheck } from "../../src/ledger/examine-rights.ts";
import type { Fault } from "../../src/core/fault.ts";
import { files } from "./attachments.ts";
import type { Books } from "./books.ts";
import { TRYTON } from "./errors.ts";
import { buttonIn } from "./release.ts";
import { as, called, idLists, idsOrNone, texts } from "./rows.ts";
import { countOf, rowOf, rowsOf, where } from "./search.ts";

const READ = "read";
const WRITE = "read write create";
/** Drafts that come to nothing, and lines that change, are taken back. */
const ALL = "read write create delete";

const areas: readonly RightsArea[] = [
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

const attachments: RightsArea = {
  what: "PDFs (attach: pdf)",
  groups: "one with read and create on ir.attachment",
  models: { "read create": "ir.attachment" },
};

const claims: RightsArea = {
  what: "claims (guard: claim)",
  groups: "one with create, write and delete on ir.model.data",
  models: { [ALL]: "ir.model.data" },
};

/** @param parts as {@link Needs} has them */
export function rightsLooks(books: Books, parts: ReadonlySet<string>): Check[] {
  const { guard } = books.config;
  const rights = rightsIn(books);
  const looks = [
    ...areas,
    ...(Object.keys(files).some((sink) => parts.has(sink)) ? [attachments] : []),
    ...(guard === "claim" ? [claims] : []),
  ].map((area) => rightsCheck(rights, area));
  if (guard !== "module") return looks;
  return [...looks, [`module ${SERVER_MODULE}`, () => moduleFault(books)]];
}

const rightsIn = (books: Books): Rights => ({
  name: TRYTON.name,
  remedy: "Activate the modules that the connector's README names, with trytond-admin.",
  async present(models) {
    const { modelName, ownModels } = await books.tryton.release();
    const domain = where({ [`${modelName} in`]: models });
    const rows = await rowsOf(books, "ir.model", domain, { name: called(modelName, as<string>()) });
    return new Set([...rows.map(({ name }) => name), ...ownModels]);
  },
  async lacking(needed) {
    const { ownModels } = await books.tryton.release();
    const models = [...needed].filter(([model]) => !ownModels.includes(model));
    const access = await books.tryton.call<Record<string, Record<string, unknown>>>(
      "model.ir.model.access.get_access",
      [models.map(([model]) => model)],
    );
    return models.flatMap(([model, rights]) =>
      rights.filter((right) => !access[model]?.[right]).map((right) => `${right} ${model}`),
    );
  },
  async barred(model, buttons) {
    const release = await books.tryton.release();
    const names = buttons.map((name) => buttonIn(release, name));
    const domain = where({ [`${release.ofModel} =`]: model, "name in": names });
    const fields = { ...texts("name"), ...idLists("groups") };
    const rows = await rowsOf(books, "ir.model.button", domain, fields);
    const own = await groupsOfUser(books);
    return rows
      .filter(({ groups }) => groups.length > 0 && !groups.some((id) => own.has(id)))
      .map(({ name }) => name);
  },
  never: async (area) =>
    area !== claims || (await books.tryton.release()).claims ? null : NO_CLAIMS,
});

/** With the groups above them. */
async function groupsOfUser(books: Books): Promise<ReadonlySet<number>> {
  const { user } = await books.tryton.session();
  const { groups } = await rowOf(books, "res.user", user, idLists("groups"));
  const rows = await rowsOf(books, "res.group", [], idsOrNone("parent"));
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
  const module = where({ "name =": SERVER_MODULE, "state =": "activated" });
  const isThere = (await countOf(books, "ir.module", module)) > 0;
  const guarded = await countOf(
    books,
    "ir.model.field",
    where({ "module =": SERVER_MODULE, "name =": "external_id", [`${ofModel} in`]: GUARDED }),
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
