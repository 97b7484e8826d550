/** What `npm run emit` can write: one entry per format. */
import { csvFiles } from "./csv.ts";
import { quickbooksOnlineBodies } from "./quickbooks-online.ts";

export interface Emitted {
  /** From the format's own folder. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** Every file of a format: those of all cases, then of `count` random documents per kind. The same seed, the same bytes. */
export type Emitter = (seed: number, count: number) => Iterable<Emitted>;

export const formats: Readonly<Record<string, Emitter>> = { csv: csvFiles };

/** Connectors with one format of their own: `--connector` alone names it. */
export const connectors: Readonly<
  Record<string, (...given: Parameters<Emitter>) => Iterable<Emitted> | Promise<Iterable<Emitted>>>
> = {
  "quickbooks-online": quickbooksOnlineBodies,
};
