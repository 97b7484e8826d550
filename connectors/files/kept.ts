/**
 * Where the newest files of each source are in its archive, as far as this process has seen: an archive may hold millions,
 * and listing it takes as long as it is large. After a start it is listed once.
 */
import { ageOf, type FileSet, type Found, type Pattern } from "./pickup.ts";

interface Source {
  readonly archive: string;
  readonly patterns: ReadonlyMap<string, Pattern>;
}

export interface KeptSet {
  readonly folder: string;
  readonly set: FileSet;
}

export class Kept {
  readonly #newest = new Map<string, KeptSet>();

  newest(source: Source): KeptSet | null {
    return this.#newest.get(keyOf(source)) ?? null;
  }

  /** A whole set that lies in a folder of the archive, each part under the name that it has there. */
  keep(source: Source, folder: string, parts: ReadonlyMap<string, Found>): void {
    const key = keyOf(source);
    const set: FileSet = { parts, missing: [] };
    const known = this.#newest.get(key);
    if (known === undefined || ageOf(known.set) <= ageOf(set))
      this.#newest.set(key, { folder, set });
  }

  /** It is not there any more, or is no export. */
  forget(source: Source): void {
    this.#newest.delete(keyOf(source));
  }
}

const keyOf = ({ archive, patterns }: Source): string => JSON.stringify([archive, ...patterns]);
