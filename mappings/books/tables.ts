/**
 * What these mappings call the cross-reference tables that say what the books call things. The names are those of the
 * first ERP that they were written for; a site's files have them.
 */
export const TABLES = {
  /** A tax type, and the accounts that it is booked on. */
  taxes: "tryton-taxes",
  /** A line without a product, and the accounts that it is booked on. */
  accounts: "tryton-accounts",
  /** A unit, and its symbol. */
  units: "tryton-units",
  /** A location, and the company that is billed for it. */
  sites: "tryton-sites",
  /** Settings of our own company. */
  company: "tryton-company",
} as const;
