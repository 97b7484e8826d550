/** Tryton in the table of fates: a real server, what its people can do there, and a connection to it that breaks. */
import type { ServerResponse } from "node:http";
import { platformIdIn } from "../../src/ledger/entries.ts";
import { openBooksSite } from "../support/books-site.ts";
import { serving } from "../support/http.ts";
import { type Books, useTryton } from "../support/tryton.ts";
import { testedSeries } from "../support/tryton-releases.ts";
import { clerkAt } from "../tryton/clerk.ts";
import { today } from "../tryton/ledger.ts";
import { newCustomer, newInvoice, newPriceList, settle } from "../tryton/office.ts";
import { logIn, type Rpc } from "../tryton/rpc.ts";
import { NO_NUMBER, PRODUCTS } from "./platform.ts";
import { type Counterpart, NO_COPY, NOT_CARRIED } from "./round.ts";
import type { Actor, Held, Side } from "./table.ts";

const TERMINAL = "T-76-TX-2799";
const POSTED = "Tryton lets nobody change or delete what is posted";
const PROCESSED = "Tryton neither cancels nor deletes what is done";
const IS_CODE = "the number of a party is its code";

/** What a clerk presses until goods count: a copy is a draft. */
const [ASSIGN, END] = testedSeries === "6.0" ? ["pick", "done"] : ["assign_force", "do"];
const BUTTONS: Readonly<Record<string, readonly string[]>> = {
  "sale.sale": ["quote", "confirm"],
  "purchase.purchase": ["quote", "confirm"],
  "stock.shipment.in": ["receive", END],
  "stock.shipment.out":
    testedSeries === "6.0"
      ? ["wait", "assign_force", ASSIGN, "pack", END]
      : ["wait", ASSIGN, "pick", "pack", END],
};

/** As people do who read Tryton's warnings and go on. */
async function pressed(tryton: Rpc, method: string, id: number): Promise<void> {
  for (let tries = 0; ; tries++)
    try {
      await tryton.call(method, [id]);
      return;
    } catch (error) {
      const [, name] = /"UserWarning",\["([^"]+)"/.exec(String(error)) ?? [];
      if (name === undefined || tries > 3) throw error;
      const user = await tryton.one("res.user", "login", "admin");
      if (testedSeries === "6.0")
        await tryton.create("res.user.warning", { user, name, always: true });
      else await tryton.call("res.user.warning.skip", name, true);
    }
}

/** A call to Tryton that is cut off, once. */
interface Cut {
  /** Of the call's text. */
  readonly call: RegExp;
  readonly when: "before" | "after" | "within its answer";
}

/** To be called where the suite is declared: it uses the server of the worker. */
export function trytonCounterpart(): Counterpart {
  const server = useTryton();
  let books: Books | undefined;
  return {
    connector: "tryton",
    async open(folder, backup) {
      books ??= server.copy("fates");
      if (backup !== undefined) books.restore(backup);
      const own = books;
      const cuts: Cut[] = [];
      const line = await breakingLine(own.url, cuts);
      const site = await openBooksSite(folder, {
        name: "tryton",
        isCopy: backup !== undefined,
        scenario: "empty",
        change: quick,
        secrets: { password: own.password },
        env: { FUELBRIDGE_TRYTON_URL: line.url, FUELBRIDGE_TRYTON_DATABASE: own.database },
        close: line.close,
      });
      const side = sideOf(await logIn(own, own.admin), cuts);
      return { ...site, side, backup: () => own.keep() };
    },
    lacks: NOT_CARRIED,
  };
}

/** Nothing waits for what settles late: Tryton commits at once. */
const quick = (yaml: string): string =>
  yaml
    .replace("    batch: 20\n", "    batch: 20\n    settleMs: 0\n")
    .replace("  environment: live\n", "  environment: live\n  settle: 1s\n");

/** Carries calls to Tryton, and cuts those that are asked for. */
async function breakingLine(to: string, cuts: Cut[]) {
  const cutOf = (call: string): Cut["when"] | undefined => {
    const at = cuts.findIndex((cut) => cut.call.test(call));
    return at < 0 ? undefined : cuts.splice(at, 1)[0]?.when;
  };
  const carry = async (
    path: string,
    call: string,
    authorization: string,
    answer: ServerResponse,
  ) => {
    const when = cutOf(call);
    if (when === "before") return void answer.destroy();
    const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
    const told = await fetch(`${to}${path}`, { method: "POST", headers, body: call });
    const text = await told.text();
    if (when === "after") return void answer.destroy();
    answer.writeHead(told.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    if (when === undefined) answer.end(text);
    else answer.write(text.slice(0, text.length / 2), () => answer.destroy());
  };
  const between = await serving(async (asked, answer) => {
    const call = Buffer.concat(await asked.toArray()).toString();
    return carry(asked.url ?? "", call, asked.headers.authorization ?? "", answer).catch(() =>
      answer.destroy(),
    );
  });
  return {
    url: between.url,
    close: async (): Promise<void> => {
      await between.close();
      if (cuts.length > 0)
        throw new Error(`no call was cut: ${cuts.map(({ call }) => call.source).join(", ")}`);
    },
  };
}

interface PartyRow {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly active: boolean;
}
/** Where a document of Tryton's has the platform's number, its party and its mark; a ticket's mark is a note. */
interface Fields {
  readonly number: "number" | "reference";
  readonly party: "party" | "supplier" | "customer";
  readonly mark?: "comment";
}
type Row = Readonly<
  Record<Required<Fields>[keyof Fields] | "id" | "state", string | number | null>
>;

const OUT: Fields = { number: "number", party: "party", mark: "comment" };
const REFERRED: Fields = { ...OUT, number: "reference" };
const TICKET: Fields = { number: "number", party: "supplier" };
const DELIVERY: Fields = { number: "number", party: "customer" };

let counter = 0;

function sideOf(tryton: Rpc, cuts: Cut[]): Side {
  const clerk = clerkAt(tryton);
  const write = (model: string, id: unknown, values: object): Promise<unknown> =>
    tryton.call(`${model}.write`, [Number(id)], values);
  const calls = (call: RegExp) => ({
    async cutWrite(when: "before" | "after") {
      cuts.push({ call, when });
    },
  });
  /** Nothing changes but the stamp. */
  const reads = (model: string) => ({
    touch: async (held: Held) => void (await write(model, held.id, {})),
    cutList: async () => {
      const call = new RegExp(`"model\\.${model.replaceAll(".", "\\.")}\\.search_read"`);
      cuts.push({ call, when: "within its answer" });
    },
  });
  const recodeParty = async (party: string | null | undefined): Promise<void> => {
    const id = Number(party);
    const [row] = await tryton.rows<{ code: string }>("party.party", [["id", "=", id]], "code");
    await write("party.party", id, { code: `${row?.code}-NEW` });
  };
  const recodeOf = async ({ party }: Held): Promise<void> => recodeParty(party);

  const documents = async (model: string, fields: Fields, domain: unknown[]): Promise<Held[]> => {
    const { number, party, mark } = fields;
    const asked = ["state", "number", "reference", party, ...(mark === undefined ? [] : [mark])];
    return (await tryton.rows<Row>(model, domain, ...asked)).map((row) => {
      const partner = mark === undefined ? null : platformIdIn(row[mark] as string | null);
      return {
        id: String(row.id),
        number: String(row[number]),
        ...(partner === null ? {} : { partner }),
        party: String(row[party]),
        stands: row.state !== "cancelled",
        names: [row.number, row.reference].map((name) => String(name ?? "")),
      };
    });
  };
  /** @param isOurs from the platform. A credit note that cancels an invoice carries the invoice's comment. */
  const invoicesOf = async (type: "out" | "in", isOurs: boolean, more: unknown[] = []) => {
    const domain = [["type", "=", type], ["total_amount", ">=", 0], ...more];
    const all = await documents("account.invoice", type === "out" ? OUT : REFERRED, domain);
    return all.filter(({ partner }) => (partner !== undefined) === isOurs);
  };
  const voided = async ({ number }: Held): Promise<void> => clerk.credit(number ?? "", true);
  const received = (type: "out" | "in"): Actor => ({
    list: () => invoicesOf(type, true),
    recode: recodeOf,
    void: type === "out" ? voided : ({ number }) => clerk.cancel(number ?? ""),
    ...calls(new RegExp(`"model\\.account\\.invoice\\.create".*"type":"${type}"`, "s")),
    // With its comment, which our mark is in.
    async copy({ id, number }, byHand) {
      const known = new Set((await invoicesOf(type, !byHand)).map((one) => one.id));
      const [{ comment } = { comment: null }] = await tryton.rows<{ comment: string | null }>(
        "account.invoice",
        [["id", "=", Number(id)]],
        "comment",
      );
      const reference = type === "in" ? { reference: `${number}-C` } : {};
      const named = byHand ? { comment: null, reference: null } : { comment, ...reference };
      await clerk.enterAgain(number ?? "", named);
      return (await invoicesOf(type, !byHand)).find((one) => !known.has(one.id)) as Held;
    },
    lacks: { renumber: POSTED, remove: POSTED },
  });

  /** An id of these begins with its model. */
  const goods = (model: string, fields: Fields): Actor => ({
    list: async () =>
      (await documents(model, fields, [])).map((one) => ({ ...one, id: `${model},${one.id}` })),
    async renumber({ id, number }) {
      await write(model, id.split(",")[1], { [fields.number]: `${number}-BY-HAND` });
      return `${number}-BY-HAND`;
    },
    recode: recodeOf,
    async copy({ id }, byHand) {
      const named = byHand ? { reference: null } : {};
      const own = [Number(id.split(",")[1])];
      const [copy = 0] = await tryton.call<number[]>(`${model}.copy`, own, named);
      for (const button of BUTTONS[model] ?? []) await pressed(tryton, `${model}.${button}`, copy);
      return (await goods(model, fields).list()).find(
        (one) => one.id === `${model},${copy}`,
      ) as Held;
    },
    ...calls(new RegExp(`"model\\.${model.replace(".", "\\.")}\\.create"`)),
    lacks: { void: PROCESSED, remove: PROCESSED },
  });

  const make = async () => {
    const customers = await partyRows("F-");
    const { code = "" } = customers.findLast(({ active }) => active) ?? {};
    const reference = `REF-${9_000 + ++counter}`;
    const made = await newInvoice(tryton, code, today(), [String(1_000 + counter), "1"], {
      reference,
    });
    return { id: String(made.id), number: made.number, stands: true, names: [reference] };
  };
  const invoices: Actor = {
    list: () => invoicesOf("out", false),
    make,
    recode: recodeOf,
    void: voided,
    async copy({ number }) {
      const known = new Set((await invoicesOf("out", false)).map(({ id }) => id));
      await clerk.enterAgain(number ?? "", {});
      return (await invoicesOf("out", false)).find(({ id }) => !known.has(id)) as Held;
    },
    ...reads("account.invoice"),
    lacks: { renumber: POSTED, remove: POSTED },
  };

  /** As people take a payment back: its lines are settled with nothing any more, then its move is cancelled. */
  const takeBack = async (move: number): Promise<void> => {
    const settled = await tryton.rows<{ id: number }>(
      "account.move.reconciliation",
      [["lines.move", "=", move]],
      "id",
    );
    for (const { id } of settled) await tryton.call("account.move.reconciliation.delete", [id]);
    const cancel = ["cancel", { default: { description: "bounced" } }] as const;
    await tryton.wizard("account.move.cancel", "default", null, ["account.move", move], cancel);
  };
  const settlements: Actor = {
    list: () => invoicesOf("out", false, [["state", "=", "paid"]]),
    async make() {
      const made = await make();
      await settle(tryton, Number(made.id), today());
      return made;
    },
    recode: recodeOf,
    async void({ id }) {
      const of = [
        ["origin", "=", `account.invoice,${id}`],
        ["description", "like", "check%"],
      ];
      for (const move of await tryton.rows<{ id: number }>("account.move", of, "id"))
        await takeBack(move.id);
    },
    ...reads("account.invoice"),
    lacks: {
      renumber: "no number of a payment goes to the platform: it is told that the invoice is paid",
      remove: POSTED,
      copy: "what is paid cannot be paid again: a second payment stays on the customer's account",
    },
  };
  const payments: Actor = {
    async list() {
      const lines = await tryton.rows<{
        id: number;
        move: number;
        party: number;
        "move.": { description: string };
      }>(
        "account.move.line",
        [
          ["move.description", "like", "payment:%"],
          ["party", "!=", null],
        ],
        "move",
        "party",
        "move.description",
      );
      const back = await tryton.rows<{ origin: string }>(
        "account.move.line",
        [["origin", "like", "account.move.line,%"]],
        "origin",
      );
      const origins = new Set(back.map(({ origin }) => origin));
      return lines.map(({ id, move, party, "move.": { description } }) => ({
        id: String(move),
        number: description,
        partner: /^payment:(\S+)/.exec(description)?.[1] ?? "",
        party: String(party),
        stands: !origins.has(`account.move.line,${id}`),
        names: [String(id)],
      }));
    },
    recode: recodeOf,
    void: ({ id }) => takeBack(Number(id)),
    ...calls(/"wizard\.account\.invoice\.pay\.execute"/),
    lacks: { renumber: POSTED, remove: POSTED, copy: NO_COPY },
  };

  const partyRows = (prefix: string): Promise<PartyRow[]> =>
    tryton.rows<PartyRow>(
      "party.party",
      [
        ["code", "like", `${prefix}%`],
        ["active", "in", [true, false]],
      ],
      "code",
      "name",
      "active",
    );
  const parties = (prefix: string, called: string): Actor => {
    const partyHeld = ({ id, code, name, active }: PartyRow): Held => ({
      id: String(id),
      number: code,
      stands: active,
      names: [name],
    });
    const add = async (name: string): Promise<Held> => {
      const code = `${prefix}${1_000 + ++counter}`;
      const id = await newCustomer(tryton, code, name);
      if (prefix === "S-") {
        const term = await tryton.one("account.invoice.payment_term", "name", "Net 30");
        const terms = { customer_payment_term: null, supplier_payment_term: term };
        await write("party.party", id, terms);
      }
      return partyHeld({ id, code, name, active: true });
    };
    return {
      list: async () => (await partyRows(prefix)).map(partyHeld),
      make: () => add(`${called} ${counter}`),
      recode: ({ id }) => recodeParty(id),
      void: async (held) => void (await write("party.party", held.id, { active: false })),
      remove: async ({ id }) => void (await tryton.call("party.party.delete", [Number(id)])),
      copy: async ({ names }) => add(names?.[0] ?? ""),
      ...reads("party.party"),
      lacks: { renumber: IS_CODE },
    };
  };

  const LINE = "product.price_list.line";
  const priceRows = () =>
    tryton.rows<{ id: number; "product.": { code: string } }>(LINE, [], "product.code");
  const priceHeld = (id: number, code: string): Held => ({
    id: String(id),
    number: `${TERMINAL} ${PRODUCTS[code] ?? code}`,
    stands: true,
    names: [`${TERMINAL}|${code}`],
  });
  const addPrice = async (code: string, formula: string): Promise<Held> => {
    if ((await priceRows()).length === 0) await newPriceList(tryton, TERMINAL, { [code]: formula });
    else {
      const price_list = await tryton.one("product.price_list", "name", TERMINAL);
      const product = await tryton.one("product.product", "code", code);
      await tryton.create(LINE, { price_list, product, formula });
    }
    return priceHeld((await priceRows()).at(-1)?.id ?? 0, code);
  };
  const codeOf = ({ number }: Held): string =>
    Object.entries(PRODUCTS).find(([, name]) => number === `${TERMINAL} ${name}`)?.[0] ?? "";
  const prices: Actor = {
    list: async () => (await priceRows()).map((row) => priceHeld(row.id, row["product."].code)),
    async make() {
      const there = new Set((await priceRows()).map((row) => row["product."].code));
      return addPrice(Object.keys(PRODUCTS).find((code) => !there.has(code)) ?? "", "2.5");
    },
    async recode(held) {
      const id = await tryton.one("product.product", "code", codeOf(held));
      await write("product.product", id, { suffix_code: "ULSD-NEW" });
    },
    remove: async ({ id }) => void (await tryton.call(`${LINE}.delete`, [Number(id)])),
    copy: (held) => addPrice(codeOf(held), "2.6"),
    ...reads(LINE),
    lacks: { renumber: NO_NUMBER, void: "a price that ends is not in its list" },
  };
  return {
    "invoice to books": received("out"),
    "bill to books": received("in"),
    "payment to books": payments,
    "order to books": goods("sale.sale", REFERRED),
    "purchase to books": goods("purchase.purchase", REFERRED),
    "ticket to books": goods("stock.shipment.in", TICKET),
    "delivery to books": goods("stock.shipment.out", DELIVERY),
    "customer to platform": parties("F-", "Farm"),
    "supplier to platform": parties("S-", "Supply"),
    "invoice to platform": invoices,
    "payment to platform": settlements,
    "price to platform": prices,
  };
}
