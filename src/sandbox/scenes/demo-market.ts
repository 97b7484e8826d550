import type { Book, Records } from "./book.ts";
import { type Product, type Terminal, terminals } from "./catalog.ts";
import { buyers, companies, type Company, haulers, homeOf, refiners } from "./companies.ts";
import { soldAt } from "./load.ts";
import {
  allocation,
  connection,
  freightRate,
  location,
  rackPriceOf,
  supplierTerminal,
} from "./network.ts";

export interface Customer {
  readonly company: Company;
  readonly termsDays: number;
  readonly sites: { id: string; name: string; rack: Terminal }[];
}

/** Parties that the supplier does no business with yet, or no more. */
const UNDECIDED: Readonly<Record<string, string>> = {
  "Bayou State Biodiesel, LLC": "PENDING",
  "Clearwater DEF & Fluids": "INFO_REQUESTED",
  "Quartz Mountain Petroleum Transport": "RESUBMITTED",
  "Sunup Fleet Services": "DECLINED",
};
const dealing = (company: Company): boolean => !(company.name in UNDECIDED);
export const truckers = [companies.carrier, ...haulers.filter(dealing)];
export const sellers = refiners.filter(dealing);

/** Everyone the supplier is connected to. The first two connections are those of every scene. */
export function market(book: Book, records: Records): Customer[] {
  const { random } = book;
  const customers: Customer[] = [{ company: companies.customer, termsDays: 15, sites: [] }];
  for (const [index, company] of buyers.entries()) {
    const termsDays = random.pick([10, 10, 15, 30]);
    customers.push({ company, termsDays, sites: [] });
    const facts = {
      erpId: `A-${1002 + index}`,
      paymentTerms: `Net ${termsDays}`,
      creditLimit: random.chance(0.9) ? random.int(2, 60) * 12_500 : null,
      message: random.chance(0.2) ? "Welcome aboard." : null,
    };
    records.connections.push(connection(book, company, facts));
  }
  for (const [index, company] of [...refiners, ...haulers].entries()) {
    const status = UNDECIDED[company.name] ?? "ACCEPTED";
    const known =
      status === "ACCEPTED" ? { erpId: `V-${2002 + index}`, paymentTerms: "Net 10" } : {};
    records.connections.push(connection(book, company, { status, ...known }));
  }
  return customers;
}

/** Where the supplier loads and what it costs there; where he delivers. */
export function places(book: Book, records: Records, customers: readonly Customer[]): void {
  const { random } = book;
  for (const terminal of terminals)
    for (const product of soldAt(terminal))
      records["rack-prices"].push(
        rackPriceOf(book, terminal, product, product.family === "propane" ? "liter" : "gal"),
      );
  for (const { company, sites } of customers) {
    const rack = homeOf(company);
    const count = random.pick([1, 1, 2]);
    for (let number = 1; number <= count; number++) {
      const site = location(book, company, rack, number);
      records.locations.push(site);
      sites.push({ id: site.id, name: site.name, rack });
    }
  }
}

/** Who may lift how much, and what the haulers charge. */
export function terms(book: Book, records: Records, customers: readonly Customer[]): void {
  const { random } = book;
  const links = new Map(records.connections.map((record) => [record["toCompanyId"], record.id]));
  const linkTo = (company: Company): string => links.get(company.id) as string;
  const allot = (terminal: Terminal, company: Company, brand: string, granted: boolean): void => {
    const product = soldAt(terminal)[0] as Product;
    const supplierId = granted ? company.id : null;
    const facts = { connectionId: linkTo(company), terminal, product, brand, supplierId };
    records.allocations.push(allocation(book, facts));
  };
  for (const [index, terminal] of terminals.slice(0, 24).entries()) {
    const { company } = customers[index] as Customer;
    allot(terminal, company, "", false);
    if (index % 3 === 0) allot(terminal, company, "Bluebonnet", false);
    allot(terminal, sellers[index % sellers.length] as Company, "", true);
  }
  const racks = terminals.map((terminal) => supplierTerminal(book, terminal));
  records["supplier-terminals"].push(...racks);
  for (const trucker of truckers)
    for (let lane = 0; lane < 8; lane++) {
      const rate = freightRate(book, linkTo(trucker), random.pick(racks), random.pick(terminals));
      records["freight-rates"].push(rate);
    }
}
