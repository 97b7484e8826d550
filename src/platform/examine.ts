/**
 * What the platform knows of the names that this site's tables give it. It takes prices for any terminal and product, so
 * a name that it does not know yet stops nothing: it is noted. Lists of at most {@link LIST_PAGES} pages are read.
 */
import type { Cell, Examination, Needs } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import type { Operation } from "./contract/operation.ts";
import { type ListOperation, operations } from "./contract/operations.ts";
import { SupplierTerminal } from "./contract/place.ts";
import { RackPrice } from "./contract/pricing.ts";
import { pages } from "./contract/primitives.ts";
import { listed, type ReadContext, recordIn } from "./reading.ts";
import type { Ourselves } from "./sinks/read-back.ts";

interface Asking {
  readonly reader: ReadContext;
  readonly ourselves: Ourselves;
}

const LIST_PAGES = 10;

/** Costs a request a page of terminals and of prices where prices are written, and up to four for our own company. */
export async function examinePlatform(
  { reader, ourselves }: Asking,
  needs: Needs,
  signal: AbortSignal,
): Promise<Examination[]> {
  const writesPrices = needs.parts.has("rackPrices");
  const terminals = writesPrices ? needs.column("terminals", "terminal") : [];
  const products = writesPrices ? needs.column("products", "product") : [];
  const names = (list: ListOperation, nameOf: (record: string) => string | undefined) =>
    namesIn(reader, list, nameOf, signal);
  return [
    ...(await companyExaminations(needs.ourselves, ourselves)),
    ...(await known(terminals, "terminal", () =>
      names("listSupplierTerminals", (record) => recordIn(SupplierTerminal, record)?.terminalCode),
    )),
    ...(await known(products, "product", () =>
      names("listRackPrices", (record) => recordIn(RackPrice, record)?.product),
    )),
  ];
}

/** A wrong id would book what we bought as sold. */
async function companyExaminations(
  cells: readonly Cell[],
  ourselves: Ourselves,
): Promise<Examination[]> {
  const [first] = cells;
  if (first === undefined) return [];
  const what = `${first.file} line ${first.line}: our own company`;
  try {
    const us = await ourselves();
    if (us === null)
      return [
        { what, fault: null, note: "the platform does not tell yet which company the key is of" },
      ];
    const isUs = us === first.value.toLowerCase();
    const fault = {
      code: "another-company",
      message: `the API key is of the company ${us}, the table says ${first.value}`,
      next: `Write ${us} into ${first.file} line ${first.line}, or use the API key of the other company.`,
    };
    return [{ what, fault: isUs ? null : fault }];
  } catch (error) {
    return [{ what, fault: faultOf(error) }];
  }
}

async function known(
  cells: readonly Cell[],
  name: string,
  read: () => Promise<ReadonlySet<string>>,
): Promise<Examination[]> {
  const [first] = cells;
  if (first === undefined) return [];
  const count = new Set(cells.map(({ value }) => value)).size;
  const what = `${first.file}: ${count} ${name}${count === 1 ? "" : "s"}`;
  try {
    const there = await read();
    const unknown = cells.filter(({ value }) => !there.has(value));
    const shown = unknown.slice(0, SHOWN_MAX).map(({ value, line }) => `${value} (line ${line})`);
    const more = unknown.length > SHOWN_MAX ? ` and ${unknown.length - SHOWN_MAX} more` : "";
    if (unknown.length === 0) return [{ what, fault: null }];
    const note = `new to the platform, which takes them as they are written: ${shown.join(", ")}${more}`;
    return [{ what, fault: null, note }];
  } catch (error) {
    return [{ what, fault: faultOf(error) }];
  }
}

const SHOWN_MAX = 5;

/** @throws SourceUnavailable */
async function namesIn(
  reader: ReadContext,
  list: ListOperation,
  nameOf: (record: string) => string | undefined,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { pageSize }: Operation = operations[list];
  const query = { pageSize: String(pageSize?.max ?? pages.max) };
  const names = new Set<string>();
  let read = 0;
  for await (const { records } of listed(reader, list, query, signal)) {
    for (const name of records.map(nameOf)) if (name !== undefined) names.add(name);
    if (++read === LIST_PAGES) break;
  }
  return names;
}

/** Not being able to look is a fault as well. */
function faultOf(error: unknown): Fault {
  if (!(error instanceof SourceUnavailable)) throw error;
  return { code: error.stop ?? "unreadable", message: error.message, next: error.next };
}
