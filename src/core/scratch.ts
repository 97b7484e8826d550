import { push } from "./groups.ts";

/**
 * What is needed only while something is read, and may be more than memory should hold. Two parts: records in the order
 * in which they came, one per key; and lists of texts by key.
 */
export interface Scratch {
  /** Appends a record. Where the key is there already nothing is changed, and its text is returned. */
  put(key: string, text: string): string | null;
  /** Gives a record that is there another text; its place stays. */
  replace(key: string, text: string): void;
  /**
   * At most `limit` records after the first `after`, in order. Where `characters` is given, none follows once their texts
   * have so many: a page is bounded however large its records are.
   */
  page(after: number, limit: number, characters?: number): readonly Kept[];
  /** How many records there are. */
  count(): number;
  /** Appends to the list under a key. */
  add(list: string, key: string, text: string): void;
  /** Takes the texts under a key out of the list, in the order in which they came. */
  take(list: string, key: string): readonly string[];
  /** What was not taken of a list: how many texts, and the first of them that came. */
  left(list: string): { readonly count: number; readonly first: string | null };
  close(): void;
}

export interface Kept {
  readonly key: string;
  readonly text: string;
}

/** In memory: for what is known to be small. */
export function memoryScratch(): Scratch {
  const records = new Map<string, { key: string; text: string }>();
  const inOrder: { key: string; text: string }[] = [];
  /** By list and key, those of a list in the order in which their keys came. */
  const lists = new Map<string, Map<string, string[]>>();
  return {
    put(key, text) {
      const found = records.get(key);
      if (found !== undefined) return found.text;
      const record = { key, text };
      records.set(key, record);
      inOrder.push(record);
      return null;
    },
    replace(key, text) {
      const found = records.get(key);
      if (found !== undefined) found.text = text;
    },
    page(after, limit, characters = Infinity) {
      const found: Kept[] = [];
      let length = 0;
      for (const { key, text } of inOrder.slice(after, after + limit)) {
        if (length >= characters) break;
        found.push({ key, text });
        length += text.length;
      }
      return found;
    },
    count: () => records.size,
    add(list, key, text) {
      const keys = lists.get(list) ?? new Map<string, string[]>();
      push(keys, key, text);
      lists.set(list, keys);
    },
    take(list, key) {
      const texts = lists.get(list)?.get(key) ?? [];
      lists.get(list)?.delete(key);
      return texts;
    },
    left(list) {
      // A list's first key is that of its first text, for a key is taken whole.
      const texts = [...(lists.get(list)?.values() ?? [])].flat();
      return { count: texts.length, first: texts[0] ?? null };
    },
    close() {},
  };
}
