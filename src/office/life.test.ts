/** What was sent as fields, beside the fields that came. */
import { expect, test } from "vitest";
import { fieldsOf } from "../engine/about.ts";

test("a sent file with a header is told field by field, as JSON is, so that both sides can be compared", () => {
  const csv = 'record,number,total,code\r\n"H","INV-118",7837.44,\r\n"L","INV-118",,"JET-A"\r\n';
  expect(fieldsOf(csv)).toEqual([
    { path: "record", value: "H" },
    { path: "number", value: "INV-118" },
    { path: "total", value: "7837.44" },
    { path: "2.record", value: "L" },
    { path: "2.number", value: "INV-118" },
    { path: "2.code", value: "JET-A" },
  ]);
  expect(fieldsOf('"a","b"\n"1","2"\n')).toHaveLength(2);
  expect(fieldsOf('{"total":7837.440,"lines":[{"code":"JET-A"}]}')).toEqual([
    { path: "total", value: "7837.440" },
    { path: "lines.1.code", value: "JET-A" },
  ]);
});

test.each(["ISA*00*~", "<IDOC><A>1</A></IDOC>", "one line, of text", '{"cut', ""])(
  "%j is one field as it is",
  (text) => {
    expect(fieldsOf(text)).toEqual([{ path: "", value: text }]);
  },
);
