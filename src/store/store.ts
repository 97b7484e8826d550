/** The store: one SQLite file that is the truth about every document. Every change to it goes through here. */
import type Database from "better-sqlite3";
import type { Fault } from "../core/record.ts";
import { type Copied, copyStore, examining } from "./backup.ts";
import {
  assertSpace,
  binding,
  grouped,
  growLog,
  guarded,
  highWater,
  openDatabase,
  spaceAhead,
  storeFile,
  told,
} from "./database.ts";
import { bisectGroups, deliveries, likenesses, links, receivers, routes } from "./deliveries.ts";
import { backfills, drifts, flows, notebooks, rhythms, rowUses } from "./flows.ts";
import { alerts, journal } from "./journal.ts";
import {
  acknowledgements,
  causes,
  corrections,
  handling,
  incidents,
  losses,
  unfinished,
  waits,
} from "./quarantine.ts";
import { found, papers, questions, samples } from "./queries.ts";
import { disagreements, lists, sweeps } from "./reconciliation.ts";
import { intake, obstacles, openRecords } from "./records.ts";
import { remembered, requests, retention, sequences, underWay } from "./requests.ts";
import { preparedLate } from "./statements.ts";

/** Nothing fills the space that is kept free within this time. */
const SPACE_EVERY_MS = 100;
/** Grouped commits after which the log of commits is grown to its whole size. */
export const LOG_GROWS_AT = 32;

export interface Store
  extends
    ReturnType<typeof rooms>,
    Pick<ReturnType<typeof highWater>, "restored" | "everSent" | "sentUntil" | "sender"> {
  /** All or nothing, and durable when it returns. @throws StorageError */
  transaction<T>(work: () => T): T;
  /**
   * The same for many at once: what is handed in during one turn of the event loop shares one commit, each all or
   * nothing by itself. Resolves when it is durable. @throws StorageError
   */
  together<T>(work: () => T): Promise<T>;
  /** After work: what was put off is done, and the pages that SQLite keeps in memory are given back. */
  rest(): void;
  /** What an error of any statement means: a StorageError where the storage itself is at fault. */
  told(error: unknown): unknown;
  /** A person has seen to it: from here on this store is the one that sends. */
  acknowledge(atMs: number): void;
  /**
   * Looks at every row that has a checksum, and at the audit's chain, in steps, until the signal; `between` runs after each.
   * @throws StorageError that names what is damaged
   */
  examine(signal: AbortSignal, between: () => Promise<void>): Promise<void>;
  /** A copy of it as it is now, while work goes on (ADR 0002). @throws StorageError */
  copy(atMs: number): Promise<Copied>;
  /** What will end the process unless a person acts. */
  readonly warnings: () => readonly (Fault<string> & { readonly urgent: true })[];
  close(): void;
}

/** Opens (or makes) the store in a folder. @throws EnvironmentError, StorageError */
export function openStore(folder: string): Store {
  const path = storeFile(folder);
  const database = openDatabase(path);
  const sent = guarded(path, () => highWater(database, folder));
  let lookedMs = -Infinity;
  const all = rooms(preparedLate(database), folder, (atMs) => {
    if (performance.now() - lookedMs >= SPACE_EVERY_MS) {
      assertSpace(path);
      lookedMs = performance.now();
    }
    sent.leaving(atMs);
  });
  const saving = database.transaction((work: () => unknown) => {
    all.journal.saveSpending();
    return work();
  });
  const transaction = <T>(work: () => T): T =>
    guarded(path, () => {
      all.links.forget();
      try {
        const result = saving.immediate(work) as T;
        sent.committed();
        return result;
      } finally {
        all.links.forget();
      }
    });
  let commits = 0;
  /** A program with little to do does not write a log of 9 MB first. */
  const commit = (work: () => void): void => {
    if (++commits === LOG_GROWS_AT) growLog(path);
    transaction(work);
  };
  return {
    ...all,
    transaction,
    together: grouped(commit),
    restored: sent.restored,
    everSent: sent.everSent,
    sentUntil: sent.sentUntil,
    sender: sent.sender,
    acknowledge: (atMs) => {
      sent.acknowledge(atMs);
      transaction(() => all.sequences.leap());
    },
    rest: () => {
      sent.flush();
      database.pragma("shrink_memory");
    },
    warnings: spaceAhead(path),
    told: (error) => told(path, error),
    examine: async (signal, between) => {
      try {
        for (const _ of examining(database)) {
          if (signal.aborted) return;
          await between();
        }
      } catch (error) {
        throw told(path, error);
      }
    },
    copy: (atMs) =>
      copyStore(database, folder, atMs).catch((error: unknown) => {
        throw told(path, error);
      }),
    close: () => {
      sent.close();
      database.close();
    },
  };
}

/** The parts of a store. Each prepares its statements here: all at once, or late (statements.ts). */
export function rooms(
  database: Database.Database,
  folder: string,
  leaving: (atMs: number) => void,
) {
  const told = journal(database);
  return {
    binding: binding(database, folder, told),
    flows: flows(database),
    intake: intake(database),
    notebooks: notebooks(database),
    drifts: drifts(database),
    deliveries: deliveries(database),
    causes: causes(database),
    openRecords: openRecords(database),
    corrections: corrections(database),
    lists: lists(database),
    bisectGroups: bisectGroups(database),
    routes: routes(database),
    losses: losses(database),
    incidents: incidents(database),
    likenesses: likenesses(database),
    disagreements: disagreements(database),
    requests: requests(database, leaving),
    underWay: underWay(database),
    unfinished: unfinished(database),
    waits: waits(database),
    links: links(database),
    receivers: receivers(database),
    obstacles: obstacles(database),
    rhythms: rhythms(database),
    rowUses: rowUses(database),
    journal: told,
    questions: questions(database),
    sweeps: sweeps(database),
    remembered: remembered(database),
    samples: samples(database),
    alerts: alerts(database),
    sequences: sequences(database),
    acknowledgements: acknowledgements(database),
    handling: handling(database),
    backfills: backfills(database),
    retention: retention(database),
    found: found(database),
    papers: papers(database),
  };
}
