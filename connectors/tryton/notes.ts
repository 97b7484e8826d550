/** Notes on records of Tryton, for src/books/notes.ts. */
import type { Note, Notes } from "../../src/books/notes.ts";
import type { Books } from "./books.ts";
import { rowsOf } from "./search.ts";

export const notesOf = (books: Books): Notes => ({
  async on(resources, beginnings) {
    if (resources.length === 0) return [];
    const likes = beginnings.map((text) => ["message", "like", `${text}%`]);
    const domain = [
      ["resource", "in", resources],
      ...(likes.length === 0 ? [] : [["OR", ...likes]]),
    ];
    return rowsOf<Note>(books, "ir.note", domain, "resource message");
  },
  async add(resource, message) {
    await books.tryton.call("model.ir.note.create", [[{ resource, message }]]);
  },
});

/** What a note on an invoice is on. */
export const resourceOf = ({ id }: { readonly id: number }): string => `account.invoice,${id}`;
