/**
 * Kinds have one spelling each (core/kinds.ts): what was a `supplier-invoice` to the mappings of files was a `bill` to
 * those of books. Where a record has a link under both, the `bill` stays the link of that record, and the other row is
 * kept as it is: nothing reads it, and the trace of its number still shows it.
 */
export const oneSpellingOfKinds = `
  update or ignore link set kind = 'bill' where kind = 'supplier-invoice';
  update request set kind = 'bill' where kind = 'supplier-invoice';
  update quarantine set awaits = 'bill' || substr(awaits, length('supplier-invoice') + 1)
    where awaits glob 'supplier-invoice *';
`;
