import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { memoryScratch } from "../../core/scratch.ts";
import { FileFault, PartFault } from "../format.ts";
import { HEADS, openProfile, parseProfile, type Profile } from "./profile.ts";
import { changesOf, readRecords } from "./records.ts";
import { Sheet } from "./text.ts";
import { COMMAS, specimenProfiles } from "../../../test/files/specimens.ts";
import { numbers, runs } from "../../../test/support/runs.ts";

const LINE_FEED = 0x0a;

/** In pieces of `size` characters. */
async function* piecesOf(bytes: Buffer, size: number): AsyncGenerator<string> {
  const text = new TextDecoder().decode(bytes, { stream: true });
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function read(profile: Profile, bytes: Buffer, size = 1e6) {
  const sheet = await Sheet.open(piecesOf(bytes, size), COMMAS);
  const scratch = memoryScratch();
  const parts = new Map([[HEADS, { file: "it.csv", sheet }]]);
  const { cut } = await readRecords(profile, parts, {}, scratch);
  const changes = changesOf(scratch, 0, scratch.count());
  return { cut, records: changes.map(({ id, text, fault }) => (fault ? `fault of ${id}` : text)) };
}

test("rows of one record that are no neighbours, equal ones too: the record is refused for just that", async () => {
  const profile = parseProfile(
    "layout: plain/order-notes\nrecord: { same: [id] }\ncolumns: { id: No, orderId: Order, note: Note }\n",
    "my.yaml",
  );
  const text = "No,Order,Note\r\nA,7,late\r\nB,7,early\r\nA,7,late\r\n";
  const scratch = memoryScratch();
  const sheet = await Sheet.open(piecesOf(Buffer.from(text), 100), COMMAS);
  await readRecords(profile, new Map([[HEADS, { file: "it.csv", sheet }]]), {}, scratch);
  expect(changesOf(scratch, 0, 9).map(({ id, fault }) => [id, fault?.message])).toEqual([
    ["A", "The rows of A are no neighbours (it.csv line 2 and it.csv line 4)."],
    ["B", undefined],
  ]);
});

test("a row of a ticket that comes twice is refused by its number; another one of the same gallons is not", async () => {
  const profile = parseProfile(
    `layout: plain/delivery-tickets
record: { same: [number] }
columns: { number: Ticket, status: State }
lists: { lines: { counts: Row, columns: { product: Product, grossGallons: Gross } } }
`,
    "my.yaml",
  );
  const rows = ["T1,1", "T1,2", "T1,2", "T2,1", "T2,2"].map((one) => {
    const [ticket = "", row = ""] = one.split(",");
    return `${ticket},ISSUED,${row},ULSD,500\r\n`;
  });
  const { records } = await read(
    profile,
    Buffer.from(`Ticket,State,Row,Product,Gross\r\n${rows.join("")}`),
  );
  expect(records).toEqual(["fault of T1", expect.stringContaining('"number":"T2"')]);
  // Of a file that stops within a row, the rows of the record above it are none of those that were read.
  const torn = Buffer.from(`Ticket,State,Row,Product,Gross\r\n${rows.slice(1, 5).join("")}T`);
  expect(await read(profile, torn)).toMatchObject({
    cut: { wholeRows: 2 },
    records: ["fault of T1"],
  });
});

test("the same whole row twice in a ticket is told where rows have no numbers, and one cell more tells them apart", async () => {
  const profile = parseProfile(
    `layout: plain/delivery-tickets
record: { same: [number] }
columns: { number: Ticket, status: State }
lists: { lines: { columns: { product: Product, grossGallons: Gross } } }
`,
    "my.yaml",
  );
  const rows = ["T1,1", "T1,1", "T2,1", "T2,2", "T3,1"].map((one) => {
    const [ticket = "", tank = ""] = one.split(",");
    return `${ticket},ISSUED,${tank},ULSD,500\r\n`;
  });
  const { records } = await read(
    profile,
    Buffer.from(`Ticket,State,Tank,Product,Gross\r\n${rows.join("")}`),
  );
  expect(records).toEqual([
    "fault of T1",
    expect.stringContaining('"number":"T2"'),
    expect.stringContaining('"number":"T3"'),
  ]);
});

const begin = (name: string, length: number): Buffer =>
  readFileSync(new URL(`../../../test/data/tryton-export/${name}`, import.meta.url)).subarray(
    0,
    length,
  );

/** Only a cut that falls exactly on a line end cannot be seen. */
test.for([
  ["customers.csv", "tryton-export/customers"],
  ["price-lists.csv", "tryton-export/price-lists"],
  ["supplier-invoices.csv", "tryton-export/supplier-invoices"],
] as const)(
  "%s cut at any byte gives whole records and says so",
  numbers,
  async ([name, layout]) => {
    const profile = specimenProfiles.get(layout) ?? openProfile(layout, "");
    const bytes = begin(name, 2600);
    const whole = (await read(profile, begin(name, 1e6))).records;
    for (let end = 1; end < bytes.length; end += runs(7, 1)) {
      if (bytes[end - 1] === LINE_FEED) continue;
      try {
        const { cut, records } = await read(
          profile,
          bytes.subarray(0, end),
          end % 10 === 0 ? 300 : 1e6,
        );
        expect(records).toEqual(whole.slice(0, records.length));
        expect(cut).not.toBeNull();
      } catch (error) {
        const fault = error instanceof PartFault ? error.fault : error;
        expect(fault).toBeInstanceOf(FileFault);
      }
    }
  },
);
