/** The sandbox's whole state behind one door: opened, reset to a scenario, taken up again after a restart. */
import type { Database } from "better-sqlite3";
import type { Json } from "../core/json.ts";
import { Clock } from "./clock.ts";
import { complete } from "./complete.ts";
import { Cursors } from "./cursors.ts";
import { openDatabase } from "./database.ts";
import { Faults } from "./faults.ts";
import { Idempotency } from "./idempotency.ts";
import { Keys } from "./keys.ts";
import { type RawRecord, resourceNames } from "./kinds.ts";
import { Lagging } from "./lagging.ts";
import { LateWrites } from "./late-writes.ts";
import { Limits } from "./limits.ts";
import { Lists } from "./lists.ts";
import { RequestLog } from "./log.ts";
import { ReadingsInForce } from "./readings.ts";
import { Records } from "./records.ts";
import { companies, scene, type SceneName } from "./scenes/index.ts";
import { Settings } from "./settings.ts";

export class World {
  readonly database: Database;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly readings: ReadingsInForce;
  readonly records: Records;
  readonly lists: Lists;
  readonly cursors: Cursors;
  readonly keys: Keys;
  readonly limits: Limits;
  readonly idempotency: Idempotency;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly late: LateWrites;
  readonly lagging: Lagging;
  /** Counts resets: what began before one must not write after it. */
  epoch = 0;

  /** A file that holds a state goes on where it stopped; anything else begins with the scenario. */
  constructor(path: string, scenario: SceneName) {
    this.database = openDatabase(path);
    this.settings = new Settings(this.database);
    this.clock = new Clock(this.settings);
    this.readings = new ReadingsInForce(this.settings);
    this.records = new Records(this.database);
    this.cursors = new Cursors(this.settings);
    this.lists = new Lists(this.database, this.cursors, this.readings.values);
    this.keys = new Keys(this.database, this.settings);
    this.limits = new Limits(this.database);
    this.idempotency = new Idempotency(this.database);
    this.faults = new Faults(this.database);
    this.log = new RequestLog(this.database);
    this.late = new LateWrites(this.database);
    this.lagging = new Lagging(this.database, this.records, this.clock, this.readings.values);
    if (this.settings.get("scenario") === null) this.reset(scenario);
    else this.transaction(() => this.idempotency.restart(this.clock.now()));
  }

  get scenario(): SceneName {
    return this.settings.get("scenario") as SceneName;
  }

  /** Everything or nothing; the disk has it when this returns. */
  transaction<T>(work: () => T): T {
    return this.records.attempt(work);
  }

  /** Back to the first state of a scenario. */
  reset(scenario: SceneName): void {
    this.epoch += 1;
    this.transaction(() => {
      this.settings.set("scenario", scenario);
      for (const name of ["next-number", "generations"]) this.settings.set(name, "0");
      this.clock.reset();
      this.readings.reset();
      this.cursors.reset();
      this.keys.seed();
      for (const table of ["idempotency", "late"]) this.database.exec(`delete from ${table}`);
      for (const part of [this.lagging, this.faults, this.log, this.records]) part.clear();
      this.#load(scenario);
      this.lagging.clear();
    });
  }

  /** The next of the numbers that people know documents by. */
  nextNumber(): number {
    const next = Number(this.settings.get("next-number") ?? 0) + 1;
    this.settings.set("next-number", String(next));
    return next;
  }

  close(): void {
    this.database.close();
  }

  #load(scenario: SceneName): void {
    const now = new Date(this.clock.now());
    const { companies: parties, records } = scene(scenario, now);
    for (const { ...company } of parties) {
      const sandbox = company.id === companies.supplierTest.id;
      const { createdAt } = company;
      this.records.put("companies", { ...company, updatedAt: createdAt, sandbox }, company.id);
    }
    for (const resource of resourceNames)
      for (const record of records[resource]) this.add(resource, record);
  }

  /** Puts a record of the scenes. */
  add(resource: (typeof resourceNames)[number], given: RawRecord): void {
    const { ownerCompanyId, ...record } = given;
    const owner = first(ownerCompanyId, record.companyId, record.fromCompanyId);
    const at = first(record.createdAt, record.paidAt);
    this.records.put(resource, complete(resource, record, { owner, at, next: 0 }), owner);
  }
}

/** The first of them that is a text. */
const first = (...values: readonly (Json | undefined)[]): string =>
  values.find((value) => typeof value === "string") ?? "";
