/** Sources and sinks of a connector of books, by the names that a configuration gives after the endpoint. */
import type { Offer } from "../core/contract.ts";

type Parts<Part> = Readonly<Record<string, Part>>;

/** Each name is a form of its own. @param more what one offers besides */
export const offered = (
  names: readonly string[],
  more: Parts<Partial<Offer>> = {},
): Record<string, Offer> =>
  Object.fromEntries(names.map((name) => [name, { form: `books.${name}`, ...more[name] }]));

export const opened = <Books, Part>(
  parts: Parts<(books: Books) => Part>,
  books: Books,
): Record<string, Part> =>
  Object.fromEntries(Object.entries(parts).map(([name, open]) => [name, open(books)]));
