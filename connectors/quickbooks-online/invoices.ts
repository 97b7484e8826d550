/** Invoices and bills in QuickBooks. Creating posts: what would differ is refused before, and told after. */
import { Refused } from "../../src/core/errors.ts";
import { spellingsOf } from "../../src/core/keys.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { orRefused } from "../../src/ledger/entries.ts";
import { type Call, type Entry, type LedgerAdapter, LedgerError } from "../../src/ledger/port.ts";
import {
  amendment,
  bodyOf,
  type DocumentKind,
  ENTITY,
  entryOf,
  expectedOf,
  isVoided,
  linesOf,
  linksOf,
  numberOf,
  partyIdIn,
  paymentsOf,
  type Writing,
} from "./documents.ts";
import { ACCOUNT, CLASS, expectFit, ITEM, LOCATION, type Online } from "./online.ts";
import { inCurrency, partyIdOf } from "./parties.ts";
import { conditionsOf, DocumentRow, having, isId, listed } from "./rows.ts";
import { invoiceTeller, issuedNumber } from "./sources.ts";
import type { Entity } from "./wire.ts";

/* A document under a number that QuickBooks may have given away already (6140). */

/** `counts`: the number is taken. `of-another`: another party's, which is no clash. `ended`: it is as if it were not there. */
type Holder = "counts" | "of-another" | "ended";

/**
 * Writes it; its id. A number that a document of the same entity has, and that counts, is the floor's to tell: it is told
 * as QuickBooks told it. One that another entity has is not found by a look, so it is refused, or taken twice where the
 * site allows it. @throws Refused, LedgerError
 */
export async function writeNumbered(
  { wire, config }: Pick<Online, "wire" | "config">,
  entity: Entity,
  { number, body }: { readonly number: string; readonly body: object },
  call: Call,
  holds: (row: DocumentRow) => Holder,
): Promise<string> {
  try {
    return await wire.write(entity, body, call);
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== "6140") throw error;
    const rows = await having(wire, entity, DocumentRow, { DocNumber: [number] }, call.signal);
    const holders = rows.map(holds).filter((one) => one !== "ended");
    if (holders.includes("counts")) throw error;
    if (holders.length > 0 || config.duplicateNumbers === "allow")
      return await wire.write(entity, body, call, { twice: true });
    throw new Refused({
      code: "number-in-use",
      message: `another document in QuickBooks has the number ${number}`,
      next: "An accountant gives that one another number, or set duplicateNumbers: allow; then retry.",
      field: "number",
    });
  }
}

export function documentAdapter<K extends DocumentKind>(
  online: Online,
  kind: K,
): LedgerAdapter<K, DocumentRow> {
  const { wire } = online;
  const entity = ENTITY[kind];
  const of = { entity, schema: DocumentRow };
  const told = (rows: readonly DocumentRow[], signal: AbortSignal) =>
    entriesOf(online, kind, rows, signal);
  return {
    can: {
      // QuickBooks' interface voids no bill.
      has: kind === "invoice" ? ["posted", "settled", "cancelled"] : ["posted", "settled"],
      byUs: "settled",
      amend: kind === "invoice" ? { "days.due": "posted", order: "posted" } : {},
      atomic: 1,
      numbered: kind === "invoice" ? "once" : "per-party",
    },
    accept: (document) => void linesOf(kind, online.config, document),
    async expected(documents, { signal }) {
      await expectFit(online, signal);
      await loadNames(online, kind, documents);
      return orRefused(documents, async (document) => {
        const { currency } = online.surroundings;
        const facts = expectedOf(kind, online.config, currency, document);
        await idsOf(online, kind, document);
        await forAll(online);
        return facts;
      });
    },
    async locate(desired, { signal }) {
      const ids = desired.flatMap(({ binding }) => (isId(binding) ? [binding] : []));
      const numbers = desired.flatMap(({ document, binding }) => {
        const spelt = binding === null ? spellingsOf(document.number) : [document.number];
        return spelt.map((number) => numberOf({ ...document, number }));
      });
      const rows = await having(wire, entity, DocumentRow, { Id: ids, DocNumber: numbers }, signal);
      const found = await told(rows, signal);
      // Somebody may have given it another number: no document is made before its day was looked through.
      const absent = desired.filter(({ mark }) => found.every((one) => one.mark !== mark));
      const days = absent.map(({ document }) => document.invoiceDate);
      const others = (await having(wire, entity, DocumentRow, { TxnDate: days }, signal)).filter(
        ({ Id }) => found.every(({ id }) => id !== Id),
      );
      const marked = (await told(others, signal)).filter(({ mark }) =>
        absent.some((one) => one.mark === mark),
      );
      return [...found, ...marked];
    },
    create: (desired, call) =>
      Promise.all(
        desired.map(async ({ document, payer }) => {
          inCurrency(online, payer);
          const ids = await idsOf(online, kind, document);
          const all = await forAll(online);
          const make = bodyOf(
            kind,
            {
              ...online.config,
              currency: online.surroundings.currency,
              party: partyIdOf(payer),
              itemId: (name) => ids.get(`item ${name}`) ?? "",
              accountId: (code) => ids.get(`account ${code}`) ?? "",
              all,
            },
            document,
          );
          return createOnce(online, kind, document, { party: partyIdOf(payer), make }, call);
        }),
      ),
    async apply(to, steps, call) {
      for (const { desired, entry } of steps) {
        const { Id, SyncToken } = entry.native;
        if (to === "amended")
          await wire.write(entity, amendment(entry.native, desired.document), call);
        if (to === "cancelled")
          await wire.write(entity, { Id, SyncToken }, call, { operation: "void" });
      }
    },
    get: async (ids, { signal }) =>
      told(await having(wire, entity, DocumentRow, { Id: ids.filter(isId) }, signal), signal),
    named: async (numbers, signal) =>
      told(
        await having(
          wire,
          entity,
          DocumentRow,
          { Id: numbers.filter(isId), DocNumber: numbers.flatMap(spellingsOf) },
          signal,
        ),
        signal,
      ),
    async *list(scope, from, signal) {
      for await (const { rows, position } of listed(wire, of, conditionsOf(scope), from, signal))
        yield { entries: await told(rows, signal), position };
    },
  };
}

/** Ids of what the configuration names for every document. @throws Refused, LedgerError */
async function forAll({ config, names }: Online): Promise<NonNullable<Writing["all"]>> {
  const { receivable, payable } = config.accounts;
  const named = [
    ["receivable", ACCOUNT, receivable],
    ["payable", ACCOUNT, payable],
    ["class", CLASS, config.class],
    ["location", LOCATION, config.location],
  ] as const;
  const ids: NonNullable<Writing["all"]> = {};
  for (const [name, kind, code] of named)
    if (code !== undefined) Object.assign(ids, { [name]: await names.id(kind, code) });
  return ids;
}

/** All that their lines name, in few calls; what is not there is told to whoever names it. */
export async function loadNames(
  { config, names }: Online,
  kind: DocumentKind,
  documents: readonly InvoiceDocument[],
): Promise<void> {
  const lines = documents.flatMap((document) => {
    try {
      return linesOf(kind, config, document);
    } catch (error) {
      if (error instanceof Refused) return [];
      throw error;
    }
  });
  await names.codes.load(
    ITEM,
    lines.flatMap(({ item }) => item ?? []),
  );
  await names.codes.load(
    ACCOUNT,
    lines.flatMap(({ account }) => account ?? []),
  );
}

/** Ids of all that its lines name: `item ULSD`, `account 5100`. @throws Refused, LedgerError */
export async function idsOf(
  { config, names }: Online,
  kind: DocumentKind,
  document: InvoiceDocument,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { item, account } of linesOf(kind, config, document))
    if (item === null) ids.set(`account ${account}`, await names.id(ACCOUNT, account ?? ""));
    else ids.set(`item ${item}`, await names.id(ITEM, item));
  return ids;
}

/** A number that a document of this kind has is the floor's to tell, but for bills of other vendors. */
const createOnce = (
  online: Online,
  kind: DocumentKind,
  document: InvoiceDocument,
  { party, make }: { readonly party: string; readonly make: object },
  call: Call,
): Promise<string> =>
  writeNumbered(online, ENTITY[kind], { number: numberOf(document), body: make }, call, (row) =>
    kind === "invoice"
      ? "counts"
      : isVoided(row)
        ? "ended"
        : partyIdIn(kind, row) === party
          ? "counts"
          : "of-another",
  );

/** With what was paid on each, in one call for all. */
async function entriesOf(
  online: Online,
  kind: DocumentKind,
  rows: readonly DocumentRow[],
  signal: AbortSignal,
): Promise<Entry<DocumentRow>[]> {
  const { names, surroundings } = online;
  const payments = await paymentsOf(online, kind, rows, signal);
  const change = kind === "invoice" ? await invoiceTeller(online, rows, payments, signal) : null;
  return rows.map((row) => {
    const on = payments.filter((payment) => linksOf(payment, kind).includes(row.Id));
    return {
      ...entryOf(kind, surroundings.currency, names, row, on),
      ...(change === null ? {} : { change: change(row, issuedNumber(row)) }),
    };
  });
}
