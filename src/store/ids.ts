/** How ids of records are kept: a UUID as its 16 bytes (half the index), anything else as text. */
export function storedId(id: string): Buffer | string {
  return UUID.test(id) ? Buffer.from(id.replaceAll("-", ""), "hex") : id;
}

export function shownId(id: Buffer | string): string {
  if (typeof id === "string") return id;
  const hex = id.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Lower case only: an upper-case id is another text, and must come back as it was. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
