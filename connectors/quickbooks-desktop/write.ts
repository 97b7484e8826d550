/** Requests as qbXML 13.0, by the tables: element order is the table's, never that of the values. Pure. */
import { Decimal } from "../../src/core/decimal.ts";
import { type Field, requests, type Shape } from "./tables.ts";
import { escaped } from "./xml.ts";

export type Value =
  string | number | boolean | Decimal | Values | readonly Value[] | null | undefined;
export interface Values {
  readonly [name: string]: Value;
}

export interface Request {
  /** Of the table: `InvoiceAdd`. */
  readonly name: string;
  readonly values: Values;
  /** Of a query that is read page by page, within one session. */
  readonly iterator?: "Start" | { readonly id: string };
}

/** A document that is asked, and the id of its requests. */
export interface Asked {
  readonly id: string;
  readonly xml: string;
}

/**
 * One document; the `requestID` of each request is `id` and its place ({@link requestId}).
 * @throws TypeError for values that the table does not have, or that are too long: a fault in the connector
 */
export function document(all: readonly Request[], id: string): string {
  const inner = all
    .map(({ name, values, iterator }, at) => {
      const fields = requests[name];
      if (fields === undefined) throw new TypeError(`there is no table for ${name}`);
      const pages =
        iterator === undefined
          ? ""
          : iterator === "Start"
            ? ' iterator="Start"'
            : ` iterator="Continue" iteratorID="${escaped(iterator.id)}"`;
      return `<${name}Rq requestID="${requestId(id, at)}"${pages}>${written(name, fields, values)}</${name}Rq>`;
    })
    .join("");
  return `<?xml version="1.0" encoding="utf-8"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">${inner}</QBXMLMsgsRq></QBXML>`;
}

/** QuickBooks echoes it: an answer is known by it. 50 characters at most. */
const requestId = (id: string, at: number): string => `${id}.${at + 1}`;

/** The place of the request of this `requestID` among those of its document, from 0. */
export const placeOf = (requestID: string): number =>
  Number(requestID.slice(requestID.lastIndexOf(".") + 1)) - 1;

/** Does this `requestID` belong to the document of that id? */
export const isOf = (requestID: string, id: string): boolean => requestID.startsWith(`${id}.`);

function written(path: string, fields: readonly Field[], values: Values): string {
  for (const name of Object.keys(values))
    if (fields.every((field) => field.name !== name))
      throw new TypeError(`${path} has no element ${name}`);
  return fields
    .map(({ name, shape, needed, many }) => {
      const value = values[name];
      const all = Array.isArray(value) ? (value as readonly Value[]) : [value];
      const there = all.filter((one) => one !== null && one !== undefined);
      if (needed === true && there.length === 0) throw new TypeError(`${path} lacks ${name}`);
      if (many !== true && there.length > 1) throw new TypeError(`${path} has one ${name} only`);
      return there
        .map((one) => `<${name}>${shaped(`${path}.${name}`, shape, one)}</${name}>`)
        .join("");
    })
    .join("");
}

function shaped(path: string, shape: Shape, value: Value): string {
  if (shape.is === "group") return written(path, shape.fields, value as Values);
  if (shape.is === "amount" || shape.is === "number") {
    if (!(value instanceof Decimal)) throw new TypeError(`${path} is no decimal`);
    const digits = shape.is === "amount" ? value.fixed(2) : value.plain();
    const isKept = shape.is === "amount" ? value.round(2).equals(value) : true;
    if (!isKept || !SHAPES[shape.is].test(digits))
      throw new TypeError(`${path}: ${value.text} has digits that QuickBooks does not keep`);
    return digits;
  }
  const said = typeof value === "string" ? value : JSON.stringify(value);
  const isRight =
    shape.is === "text" ? said.length <= shape.most && said !== "" : SHAPES[shape.is].test(said);
  if (!isRight) throw new TypeError(`${path} cannot be ${JSON.stringify(said)}`);
  return escaped(said);
}

const SHAPES = {
  amount: /^-?\d{1,13}\.\d\d$/,
  number: /^-?\d{1,10}(?:\.\d{1,5})?$/,
  id: /^\S{1,36}$/,
  day: /^\d{4}-\d\d-\d\d$/,
  moment: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/,
  yes: /^(?:true|false)$/,
  guid: /^\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/,
  count: /^[1-9]\d{0,4}$/,
} as const;
