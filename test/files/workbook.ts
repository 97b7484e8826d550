/** Workbooks as spreadsheet programs save them, and archives that no such program writes. */
import { crc32, deflateRawSync } from "node:zlib";

/** `text`: as it stands in the file. `raw`: the whole cell. A day is its serial number. */
export type Cell = string | null | { number: string } | { day: string } | { raw: string };

export interface Entry {
  readonly name: string;
  readonly data: Buffer;
  /** What the archive says of it where that is not so. */
  readonly size?: number;
  readonly crc?: number;
  readonly flags?: number;
}

const xml = (text: string): Buffer =>
  Buffer.from(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${text}`);

/** One sheet named Prices; `more`: further entries, `hidden`: rows from 1; `prefix`: of the sheet's elements. */
export function workbook(
  rows: readonly (readonly Cell[])[],
  {
    properties = "",
    more = [],
    hidden = [],
    prefix = "",
  }: {
    properties?: string;
    more?: readonly Entry[];
    hidden?: readonly number[];
    prefix?: string;
  } = {},
): Buffer {
  const data = rows
    .map(
      (cells, row) =>
        `<row r="${row + 1}"${hidden.includes(row + 1) ? ' hidden="1"' : ""}>${cells.map((cell, at) => cellXml(cell, `${String.fromCharCode(65 + at)}${row + 1}`)).join("")}</row>`,
    )
    .join("");
  return zipped([
    {
      name: "[Content_Types].xml",
      data: xml('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'),
    },
    {
      name: "_rels/.rels",
      data: relationships({ officeDocument: "xl/workbook.xml" }),
    },
    {
      name: "xl/workbook.xml",
      data: xml(
        `<workbook ${MAIN} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">${properties}<sheets><sheet name="Prices" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      ),
    },
    {
      name: "xl/_rels/workbook.xml.rels",
      data: relationships({
        worksheet: "worksheets/sheet1.xml",
        styles: "/xl/styles.xml",
        sharedStrings: "sharedStrings.xml",
      }),
    },
    {
      name: "xl/styles.xml",
      data: xml(
        `<styleSheet ${MAIN}><numFmts><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yy;@"/><numFmt numFmtId="165" formatCode="[Red]#,##0.0000_d"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`,
      ),
    },
    {
      name: "xl/worksheets/sheet1.xml",
      data: xml(
        `<worksheet ${MAIN}><sheetData>${data}</sheetData></worksheet>`
          .replaceAll(/<(\/?)(?=\w)/g, `<$1${prefix}`)
          .replace("xmlns=", prefix === "" ? "xmlns=" : "xmlns:x="),
      ),
    },
    ...more,
  ]);
}

const relationships = (targets: Readonly<Record<string, string>>): Buffer =>
  xml(
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${Object.entries(
      targets,
    )
      .map(
        ([type, target], at) =>
          `<Relationship Id="rId${at + 1}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`,
      )
      .join("")}</Relationships>`,
  );

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

function cellXml(cell: Cell, place: string): string {
  if (cell === null) return "";
  if (typeof cell === "string") {
    const text = cell.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
  }
  if ("raw" in cell) return cell.raw;
  if ("day" in cell) return `<c r="${place}" s="1"><v>${cell.day}</v></c>`;
  return `<c r="${place}"><v>${cell.number}</v></c>`;
}

export function zipped(entries: readonly Entry[]): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data, size = data.length, crc = crc32(data), flags = 0 } of entries) {
    const packed = deflateRawSync(data);
    const called = Buffer.from(name);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc, 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(size, 18);
    shared.writeUInt16LE(called.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\u0001\u0002\u0014\u0000", "latin1"), shared, tail, called);
    const local = [Buffer.from("PK\u0003\u0004", "latin1"), shared, called, packed];
    pieces.push(...local);
    at += local.reduce((sum, { length }) => sum + length, 0);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...pieces, listed, end]);
}
