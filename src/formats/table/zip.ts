/**
 * The entries of a ZIP archive, within limits: a workbook is one, and a small archive may hold gigabytes. Sizes are checked
 * as they are declared and as they are, and every byte against its checksum.
 */
import { crc32, inflateRawSync } from "node:zlib";
import { FileFault } from "./csv.ts";

const ENTRIES_MAX = 1_000;
/** Of all entries that are taken, unpacked. */
const BYTES_MAX = 32_000_000;

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const COMMENT_MAX = 65_535;
const STORED = 0;
const DEFLATED = 8;

/** By name, those that `isTaken` says. @throws FileFault for what is no archive, is damaged or too large */
export function unzipped(archive: Buffer, isTaken: (name: string) => boolean): Map<string, Buffer> {
  const entries = new Map<string, Buffer>();
  let left = BYTES_MAX;
  try {
    for (const { name, method, crc, packed, size, at } of directoryOf(archive)) {
      if (!isTaken(name)) continue;
      if (size > left)
        throw new FileFault(`unpacks to more than ${BYTES_MAX / 1_000_000} MB; is it a workbook?`);
      left -= size;
      if (archive.readUInt32LE(at) !== LOCAL) throw damaged();
      const begin =
        at + LOCAL_BYTES + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
      const data = archive.subarray(begin, begin + packed);
      const bytes =
        method === STORED ? data : inflateRawSync(data, { maxOutputLength: Math.max(size, 1) });
      if (bytes.length !== size || crc32(bytes) !== crc || entries.has(name)) throw damaged();
      entries.set(name, bytes);
    }
  } catch (error) {
    // Node's own errors (a range, an inflation that goes on) say the same.
    throw error instanceof FileFault ? error : damaged();
  }
  return entries;
}

const damaged = (): FileFault => new FileFault("is damaged: it is no whole ZIP archive");

interface Listed {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

/** @throws FileFault, RangeError */
function directoryOf(archive: Buffer): Listed[] {
  const from = Math.max(archive.length - END_BYTES - COMMENT_MAX, 0);
  const end = archive.lastIndexOf(Buffer.of(0x50, 0x4b, 0x05, 0x06));
  if (end < from || archive.readUInt32LE(end) !== END) throw damaged();
  const count = archive.readUInt16LE(end + 10);
  if (count > ENTRIES_MAX) throw new FileFault(`has ${count} parts; is it a workbook?`);
  const listed: Listed[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < count; entry++) {
    if (archive.readUInt32LE(at) !== ENTRY) throw damaged();
    const [nameBytes = 0, extra = 0, comment = 0] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    );
    const method = archive.readUInt16LE(at + 10);
    const isEncrypted = (archive.readUInt16LE(at + 8) & 1) === 1;
    if (isEncrypted || (method !== STORED && method !== DEFLATED))
      throw new FileFault("is encrypted, or packed in a way that is not read");
    listed.push({
      name: archive.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      method,
      crc: archive.readUInt32LE(at + 16),
      packed: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      at: archive.readUInt32LE(at + 42),
    });
    at += ENTRY_BYTES + nameBytes + extra + comment;
  }
  return listed;
}

/** An archive of these entries, not packed. */
export function archived(entries: ReadonlyMap<string, Buffer>): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, data] of entries) {
    const called = Buffer.from(name);
    // Version, flags, method and time, as both headers have them.
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt32LE(crc32(data), 10);
    shared.writeUInt32LE(data.length, 14);
    shared.writeUInt32LE(data.length, 18);
    shared.writeUInt16LE(called.length, 22);
    const local = Buffer.alloc(4);
    local.writeUInt32LE(LOCAL);
    const listed = Buffer.alloc(6);
    listed.writeUInt32LE(ENTRY);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    pieces.push(local, shared, called, data);
    directory.push(listed, shared, tail, called);
    at += LOCAL_BYTES + called.length + data.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END);
  end.writeUInt16LE(entries.size, 8);
  end.writeUInt16LE(entries.size, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...pieces, listed, end]);
}
