/** A zip archive, uncompressed: one file to take away. The format is PKWARE's APPNOTE 6.3. */
import { crc32 } from "node:zlib";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;
/** 1980-01-01: the same texts are the same archive. */
const DATE = 0x0021;

/** Below 4 GB and 65,536 files, as the format without its extensions has it. */
export function zipped(
  files: Iterable<readonly [name: string, content: string | Buffer]>,
): Buffer<ArrayBuffer> {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [name, given] of files) {
    const content = Buffer.from(given);
    const path = Buffer.from(name);
    const common = commonOf(content, path);
    const local = Buffer.concat([number(LOCAL, 4), common, path, content]);
    bodies.push(local);
    entries.push(
      // Made by; what local files have too; comment, disk and attributes: none; and where it starts.
      Buffer.concat([
        number(CENTRAL, 4),
        number(VERSION, 2),
        common,
        Buffer.alloc(10),
        number(at, 4),
        path,
      ]),
    );
    at += local.length;
  }
  const central = Buffer.concat(entries);
  const end = Buffer.concat([
    number(END, 4),
    Buffer.alloc(4),
    number(entries.length, 2),
    number(entries.length, 2),
    number(central.length, 4),
    number(at, 4),
    Buffer.alloc(2),
  ]);
  return Buffer.concat([...bodies, central, end]);
}

const commonOf = (content: Buffer, path: Buffer): Buffer =>
  Buffer.concat([
    number(VERSION, 2),
    number(FLAGS, 2),
    // Stored as it is, at midnight.
    Buffer.alloc(4),
    number(DATE, 2),
    number(crc32(content), 4),
    number(content.length, 4),
    number(content.length, 4),
    number(path.length, 2),
    Buffer.alloc(2),
  ]);

function number(value: number, bytes: 2 | 4): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}
