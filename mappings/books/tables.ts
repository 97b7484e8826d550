/** What these mappings call the cross-reference tables that say what the books call things, whatever the ERP. */
export const TABLES = {
  /** A tax type, and the accounts that it is booked on. */
  taxes: "tax-accounts",
  /** A line without a product, and the accounts that it is booked on. */
  accounts: "charge-accounts",
  /** A unit, and its symbol. */
  units: "units",
  /** A location, and the company that is billed for it. */
  sites: "sites",
  /** Settings of our own company. */
  company: "own-company",
} as const;
