/** Books of a test's own, somebody of the office who works in them, and an engine's side of reading them. */
import type { Change, Page, Source } from "../../../src/core/contract.ts";
import { type Json, parseExact } from "../../../src/core/json.ts";
import type { TrytonServer } from "../../../test/support/tryton.ts";
import type { Books } from "../books.ts";
import { ledgerOf } from "../index.ts";
import { deskOf as sinkDeskOf } from "../sink.fixture.ts";
import type { Tryton } from "../wire.ts";

type Database = ReturnType<TrytonServer["copy"]>;

export interface Desk {
  readonly database: Database;
  /** The synchronisation's. */
  readonly books: Books;
  /** The clerk's own session. */
  readonly clerk: Tryton;
  /** What `books` takes for the time; a test sets it. */
  clock: Date;
  create(model: string, values: object): Promise<number>;
  write(model: string, id: number, values: object): Promise<void>;
  /** The id of the one row with this value. */
  one(model: string, field: string, value: unknown): Promise<number>;
}

const sourceOf =
  (name: string) =>
  (books: Books): Source =>
    ledgerOf(books).sources[name] as Source;
export const parties = sourceOf("parties");
export const invoices = sourceOf("invoices");
export const prices = sourceOf("prices");

let copies = 0;

/** With `filled` copies of what {@link TrytonServer.filled} has made. */
export const deskIn = (server: TrytonServer, more: object = {}, filled?: string): Desk =>
  deskOf(server.copy(`desk${process.pid}_${++copies}`, filled), more);

export function deskOf(database: Database, more: object = {}): Desk {
  const { books, clerk } = sinkDeskOf(database, more);
  const desk = { clock: new Date("2026-11-21T12:00:00Z") };
  books.surroundings.now = () => desk.clock;
  return Object.assign(desk, {
    database,
    books,
    clerk,
    async create(model: string, values: object) {
      const [id] = await clerk.call<[number]>(`model.${model}.create`, [[values]]);
      return id;
    },
    async write(model: string, id: number, values: object) {
      await clerk.call(`model.${model}.write`, [[id], values]);
    },
    async one(model: string, field: string, value: unknown) {
      const found = await clerk.call<number[]>(`model.${model}.search`, [
        [[field, "=", value]],
        0,
        2,
        null,
      ]);
      if (found.length !== 1)
        throw new Error(`${found.length} of ${model} with ${field} ${String(value)}`);
      return found[0] as number;
    },
  });
}

interface Reader {
  readonly position: Json | null;
  readonly read: (pagesMax?: number) => Promise<{ pages: Page[]; changes: Change[] }>;
}

/** Reads on from where it got to, and keeps the position as the store does: as text. */
export function reader(source: Source, from: Json | null = null): Reader {
  let position = from;
  return {
    get position() {
      return position;
    },
    async read(pagesMax = Infinity): Promise<{ pages: Page[]; changes: Change[] }> {
      const pages: Page[] = [];
      const reading = {
        signal: new AbortController().signal,
        known: () => null,
        stored: () => false,
      };
      for await (const page of source.read(position, reading)) {
        pages.push(page);
        position = JSON.parse(JSON.stringify(page.position)) as Json;
        if (pages.length === pagesMax) break;
      }
      return { pages, changes: pages.flatMap(({ changes }) => changes) };
    },
  };
}

/** By id, the last that was told. */
export const byId = (changes: readonly Change[]): Record<string, unknown> =>
  Object.fromEntries(changes.map(({ id, text }) => [id, JSON.parse(text)]));

export const exactly = (change: Change | undefined): unknown => parseExact(change?.text ?? "null");
