/** A site whose ERP is QuickBooks Online: a company of the tests' own behind Intuit's interface. */
import { join } from "node:path";
import {
  CLIENT,
  COMPANY,
  type Company,
} from "../../connectors/quickbooks-online/company.fixture.ts";
import { startCompany } from "../../connectors/quickbooks-online/company-server.fixture.ts";
import { writeTokens } from "../../connectors/quickbooks-online/tokens.ts";
import {
  cells,
  chargesOf,
  type Laying,
  openBooksSite,
  type SiteOf,
} from "../support/books-site.ts";

export type { Members } from "../support/books-site.ts";
export type OnlineSite = SiteOf<Company>;

const NAME = "quickbooks-online";
const DAY_MS = 86_400_000;

/** @param backup of the company of a site that was copied; left out: it is new, with what the shipped tables name */
export async function openOnlineSite(
  folder: string,
  backup?: string,
  more: Pick<Laying, "scenario"> & { readonly yaml?: Laying["change"] } = {},
): Promise<OnlineSite> {
  const { company: books, close } = await startCompany();
  const site = await openBooksSite(folder, {
    name: NAME,
    isCopy: backup !== undefined,
    change: (yaml) => (more.yaml ?? String)(change(yaml)),
    ...(more.scenario === undefined ? {} : { scenario: more.scenario }),
    secrets: { "client-secret": CLIENT.clientSecret },
    env: {
      FUELBRIDGE_QUICKBOOKS_COMPANY: COMPANY,
      FUELBRIDGE_QUICKBOOKS_CLIENT: CLIENT.clientId,
      BOOKS_URL: books.url,
    },
    close,
  });
  if (backup === undefined) {
    signIn(folder);
    stock(books, folder);
  } else books.restore(backup);
  return { ...site, books };
}

/** Prices, orders and the tests' addresses. */
function change(yaml: string): string {
  const more = `environment: production
    url: \${BOOKS_URL}
    tokenUrl: \${BOOKS_URL}/tokens
    prices: { list: T-76-TX-2799 }`;
  const flow = `flows:
  rack-prices:
    mapping: books/rack-prices
    from: books.prices
    to: platform.rackPrices
    every: 10m`;
  return yaml
    .replace(/(?<=connector: quickbooks-online[\s\S]*)environment: production/, more)
    .replace("flows:", flow)
    .replace(/^ {2}# orders:\n(?: {2}# {3}.*\n)+/m, (lines) => lines.replaceAll(/^ {2}# /gm, "  "));
}

function signIn(folder: string): void {
  const later = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
  writeTokens(join(folder, "var", NAME, "state", `${NAME}.json`), {
    company: COMPANY,
    accessToken: "access-0",
    accessUntil: later(1),
    refreshToken: "refresh-0",
    refreshUntil: later(90),
    authorisedAt: later(-1),
  });
}

/** What somebody set up in QuickBooks before the first document. */
function stock(books: Company, folder: string): void {
  const items = new Set([
    "Freight and fees",
    ...cells(folder, "items", "item"),
    ...chargesOf(folder, "sales"),
  ]);
  for (const Name of items) books.enter("Item", { Name, Type: "NonInventory" });
  const accounts = new Set(["5000", ...chargesOf(folder, "purchases")]);
  for (const AcctNum of accounts)
    books.enter("Account", { AcctNum, Name: `Account ${AcctNum}`, AccountType: "Expense" });
  for (const Name of ["Checking", "Undeposited Funds"])
    books.enter("Account", { Name, AccountType: "Bank" });
}
