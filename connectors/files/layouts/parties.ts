/** Tryton's list of parties, exported once for the category Customer and once for Supplier. */
import { filled, records, text } from "./table.ts";

const party = (term: string) => ({
  id: filled(text("ID")),
  code: filled(text("Code")),
  name: filled(text("Name")),
  phone: text("Phone"),
  mobile: text("Mobile"),
  /** The party's first e-mail address; further ones are not exported. */
  email: text("E-Mail"),
  paymentTerm: text(term),
});

const addresses = {
  building: text("Addresses/Building Name"),
  street: text("Addresses/Street"),
  zip: text("Addresses/Postal Code"),
  city: text("Addresses/City"),
  /** ISO 3166-2: `US-TX` */
  subdivision: text("Addresses/Subdivision/Code"),
  country: text("Addresses/Country/Code"),
};

export const customers = records({
  name: "tryton-export/customers",
  restates: true,
  head: party("Customer Payment Term"),
  children: { addresses },
  joined: {},
  key: ({ code }) => code,
});

export const suppliers = records({
  name: "tryton-export/suppliers",
  restates: true,
  head: party("Supplier Payment Term"),
  children: { addresses },
  joined: {},
  key: ({ code }) => code,
});
