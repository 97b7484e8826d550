/** The sandbox's whole state behind one door: opened, reset to a scenario, taken up again after a restart. */
import { Part, Sql } from "./database.ts";
import { Keys } from "./keys.ts";
import { type RawRecord, type ResourceName, resourceNames } from "./kinds.ts";
import { Lists } from "./lists.ts";
import { Lagging, Records } from "./records.ts";
import { Faults, Idempotency, RequestLog } from "./requests.ts";
import { Clock, ReadingsInForce } from "./settings.ts";
import { companies, type MonthOptions, scene, type SceneName } from "./scenes/index.ts";

export class World extends Part {
  readonly clock = new Clock(this.sql);
  readonly readings = new ReadingsInForce(this.sql);
  readonly records = new Records(this.sql);
  readonly lists = new Lists(this.sql, this.readings.values);
  readonly keys = new Keys(this.sql);
  readonly idempotency = new Idempotency(this.sql);
  readonly faults = new Faults(this.sql);
  readonly log = new RequestLog(this.sql);
  readonly lagging = new Lagging(this.sql, this.records, this.clock, this.readings.values);
  /** Counts resets: what began before one must not write after it. */
  epoch = 0;

  /** A file that holds a state goes on where it stopped; anything else begins with the scenario. */
  constructor(path: string, scenario: SceneName, month: MonthOptions = {}) {
    super(new Sql(path));
    if (this.sql.setting("month") === null) this.sql.set("month", JSON.stringify(month));
    if (this.sql.setting("scenario") === null) this.reset(scenario);
    else this.transaction(() => this.idempotency.restart(this.clock.now()));
  }

  /** What the scenario `month` is made with. */
  get month(): MonthOptions {
    return JSON.parse(this.sql.setting("month") ?? "{}") as MonthOptions;
  }

  get scenario(): SceneName {
    return this.sql.setting("scenario") as SceneName;
  }

  /** Everything or nothing; the disk has it when this returns. */
  transaction<T>(work: () => T): T {
    return this.records.attempt(work);
  }

  /** Back to the first state of a scenario. */
  reset(scenario: SceneName): void {
    this.epoch += 1;
    this.transaction(() => {
      this.sql.set("scenario", scenario);
      for (const name of ["next-number", "generations"]) this.sql.set(name, "0");
      this.clock.reset();
      this.readings.reset();
      this.lists.cursors.reset();
      this.keys.seed();
      for (const table of ["idempotency", "late"]) this.sql.run(`delete from ${table}`);
      for (const part of [this.lagging, this.faults, this.log, this.records]) part.clear();
      this.#load(scenario);
      this.lagging.clear();
    });
  }

  /** The next of the numbers that people know documents by. */
  nextNumber(): number {
    return this.sql.next("next-number");
  }

  /** Puts a record of the scenes: whole, and with `ownerCompanyId` where it has no company of its own. */
  add(resource: ResourceName, { ownerCompanyId, ...record }: RawRecord): void {
    const { companyId, id } = record;
    this.records.put(resource, { ...record, id }, (ownerCompanyId ?? companyId) as string);
  }

  close(): void {
    this.sql.database.close();
  }

  #load(scenario: SceneName): void {
    const now = new Date(this.clock.now());
    const { companies: parties, records } = scene(scenario, now, this.month);
    for (const company of parties) {
      const { id, createdAt } = company;
      const sandbox = id === companies.supplierTest.id;
      this.records.put("companies", { ...company, updatedAt: createdAt, sandbox }, id);
    }
    for (const resource of resourceNames)
      for (const record of records[resource]) this.add(resource, record);
  }
}
