/** Tryton's list of parties, exported once for the category Customer and once for Supplier. */
import { filled, records, text } from "./table.ts";

const party = {
  id: filled(text),
  code: filled(text),
  name: filled(text),
  phone: text,
  mobile: text,
  /** The party's first e-mail address; further ones are not exported. */
  email: text,
  paymentTerm: text,
};

const addresses = {
  building: text,
  street: text,
  zip: text,
  city: text,
  /** ISO 3166-2: `US-TX` */
  subdivision: text,
  country: text,
};

export const customers = records({
  name: "tryton-export/customers",
  restates: true,
  head: party,
  lists: { addresses },
  optional: {},
  key: ({ code }) => code,
});

export const suppliers = records({
  name: "tryton-export/suppliers",
  restates: true,
  head: party,
  lists: { addresses },
  optional: {},
  key: ({ code }) => code,
});
