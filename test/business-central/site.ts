/** A site whose ERP is Business Central: a company of the tests' own behind Microsoft's interface. */
import {
  CLIENT,
  type Company,
  NAME as COMPANY_NAME,
  SECRET,
  startCompany,
} from "../../connectors/business-central/company.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import {
  cells,
  chargesOf,
  type Laying,
  openBooksSite,
  type SiteOf,
} from "../support/books-site.ts";

export type { Members } from "../support/books-site.ts";
export type CentralSite = SiteOf<Company>;

const NAME = "business-central";
/** Of the account that a line without a product is booked on. */
const ACCOUNTS = ["4100", "5100", "10100", "11000", "21000"];
export const TERMINAL = "T-76-TX-2799";

/** @param backup of the company of a site that was copied; left out: it is new, with what the shipped tables name */
export async function openCentralSite(
  folder: string,
  backup?: string,
  more: Pick<Laying, "scenario"> & { readonly yaml?: Laying["change"] } = {},
): Promise<CentralSite> {
  const { company: books, close } = await startCompany();
  const site = await openBooksSite(folder, {
    name: NAME,
    isCopy: backup !== undefined,
    change: (yaml) => (more.yaml ?? String)(change(yaml)),
    ...(more.scenario === undefined ? {} : { scenario: more.scenario }),
    secrets: { "client-secret": SECRET },
    env: {
      FUELBRIDGE_BC_TENANT: "contoso.example",
      FUELBRIDGE_BC_COMPANY: COMPANY_NAME,
      FUELBRIDGE_BC_CLIENT: CLIENT,
      BOOKS_URL: books.url,
    },
    close,
  });
  if (backup === undefined) stock(books, folder);
  else books.restore(backup);
  return { ...site, books };
}

/** Prices, orders and the tests' addresses; a company on premises, which sets its own limit of requests. */
function change(yaml: string): string {
  const more = `environment: Production
    url: \${BOOKS_URL}/api/v2.0
    login: \${BOOKS_URL}/login/oauth2/v2.0/token
    requests: 1000000
    settleMs: 0
    prices: { list: ${TERMINAL} }`;
  const flow = `flows:
  rack-prices:
    mapping: books/rack-prices
    from: books.prices
    to: platform.rackPrices
    every: 10m`;
  return yaml
    .replace("environment: Production", more)
    .replace("unseenPayments: ask", "unseenPayments: money")
    .replace("flows:", flow)
    .replace(/^ {2}# orders:\n(?: {2}# {3}.*\n)+/m, (lines) => lines.replaceAll(/^ {2}# /gm, "  "));
}

/** What somebody set up in Business Central before the first document. */
function stock(books: Company, folder: string): void {
  for (const [set, field, codes] of [
    ["items", "number", cells(folder, "items", "item")],
    ["unitsOfMeasure", "code", ["L", "BBL"]],
    [
      "accounts",
      "number",
      [...ACCOUNTS, ...chargesOf(folder, "sales"), ...chargesOf(folder, "purchases")],
    ],
  ] as const)
    for (const code of new Set(codes))
      if (!books.rows(set).some((row) => row[field] === code)) books.enter(set, { [field]: code });
  for (const item of books.rows("items"))
    books.edit("items", item.id, { baseUnitOfMeasureCode: "GAL", unitPrice: Decimal.zero });
}
