/**
 * The person in a drill. He looks into the quarantine through the running daemon, and for what nobody can tell by
 * machine he looks at the platform's records: what is there he resolves with its id, what is not he retries. He lets
 * everything rest first, longer than any write of the platform takes.
 */
import { remoteOffice } from "../../src/office/remote.ts";
import type { Office } from "../../src/office/questions.ts";
import type { Quarantined, Status } from "../../src/office/answers.ts";
import { imported } from "./sales.ts";
import type { Members, Platform, Site } from "./site.ts";
import { SLOW_S } from "./weather.ts";

const RESTS_MS = (SLOW_S + 2) * 1_000;
/** One record of a few that a list lacks is told, until a list has it again; more than that is a torn list. */
const CLEARS_BY_ITSELF: ReadonlySet<string> = new Set([
  "waits-for",
  "waits-for-unread",
  "left-the-list",
]);

/** What is released when its cause is gone; the other stops clear themselves, or must never come. */
const RELEASABLE = "quota";
/**
 * Nobody can tell by machine: whether it arrived, also where the ERP has taken it away and the store was restored since, or
 * whether a company of the same name or code is the party. Two firms of one name and address are two in these books.
 */
const DECIDABLE: readonly string[] = [
  "needs-decision",
  "maybe-delivered",
  "same-name",
  "same-code",
  "code-changed",
];

export class Person {
  readonly #site: Site;
  readonly #renumbered: ReadonlyMap<string, string>;
  /** Delivery → when he first saw it, by the platform's clock. */
  readonly #seen = new Map<string, number>();
  readonly decisions = { renumbered: 0, resolved: 0, retried: 0, released: 0, issued: 0 };
  /** What should never have come to him. */
  readonly complaints = new Set<string>();

  /** @param renumbered new number → old number, of bills that the ERP has renumbered */
  constructor(site: Site, renumbered: ReadonlyMap<string, string>) {
    this.#site = site;
    this.#renumbered = renumbered;
  }

  /** One look; null when no daemon answers, or it died while he was talking to it. */
  async look(): Promise<Status | null> {
    try {
      const office = await remoteOffice(this.#site.state);
      if (office === null) return null;
      const status = await office.status();
      for (const { breaker, message } of status.stops) {
        if (breaker === "split-brain" || breaker === "doubled")
          this.complaints.add(`stopped: ${breaker}: ${message}`);
        if (breaker !== RELEASABLE) continue;
        await office.release(breaker, "drill");
        this.decisions.released++;
      }
      await this.#decide(office);
      return await office.status();
    } catch (error) {
      if (isGone(error)) return null;
      throw error;
    }
  }

  /** Has every flow read its source now. */
  async hurry(): Promise<void> {
    const office = await remoteOffice(this.#site.state);
    await office?.runNow("all").catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  }

  async #decide(office: Office): Promise<void> {
    const { platform } = this.#site;
    const { now } = await platform.ask<{ now: string }>("GET", "/clock");
    for (const { id, flow, code, cause } of await office.quarantine()) {
      if (CLEARS_BY_ITSELF.has(code)) continue;
      if (code === "draft-at-receiver") {
        await this.#issue();
        continue;
      }
      if (code === "renumbered") {
        for (const one of (await office.quarantineShow(id)).deliveries)
          await this.#renumber(office, one);
        continue;
      }
      if (!DECIDABLE.includes(code)) {
        this.complaints.add(`quarantined in ${flow}: ${code}: ${cause}`);
        continue;
      }
      const { deliveries } = await office.quarantineShow(id);
      for (const one of deliveries) {
        const since = this.#seen.get(one.delivery) ?? Date.parse(now);
        this.#seen.set(one.delivery, since);
        if (Date.parse(now) - since >= RESTS_MS) await this.#settle(office, flow, one);
      }
    }
  }

  /** What is said to be a draft is issued on the platform. */
  async #issue(): Promise<void> {
    const { platform } = this.#site;
    for (const { id, status } of await platform.records("invoices")) {
      if (status !== "DRAFT") continue;
      await platform.ask("PATCH", `/records/invoices/${id as string}`, { status: "OUTSTANDING" });
      this.decisions.issued++;
    }
  }

  /** The receiver takes no new number: he gives it there by hand, and says so here. */
  async #renumber(office: Office, { delivery, number }: Quarantined): Promise<void> {
    const [receiverId, another] = await this.#idsOf("invoices", number);
    if (receiverId === undefined || another !== undefined) {
      this.complaints.add(`${number} was renumbered and is there ${another ? "twice" : "not"}`);
      return;
    }
    await office.resolve(delivery, { by: "drill", note: "given its number there", receiverId });
    this.decisions.renumbered++;
  }

  /** The platform's ids of what has this number there. What has its old number there yet is given the new one. */
  async #idsOf(flow: string, number: string): Promise<string[]> {
    const { platform } = this.#site;
    const old = this.#renumbered.get(number);
    if (flow === "invoices" && old !== undefined)
      for (const id of await idsOf(platform, flow, old))
        await platform.ask("PATCH", `/records/invoices/${id}`, { invoiceNumber: number });
    if (flow === "invoices-issued") {
      const taken = imported(this.#site.erp).filter(([one]) => one === number);
      return taken.map(() => `invoices/${number}.csv`);
    }
    return idsOf(platform, flow, number);
  }

  async #settle(office: Office, flow: string, { delivery, number }: Quarantined): Promise<void> {
    const found = await this.#idsOf(flow, number);
    if (found.length > 1) this.complaints.add(`${number} is there ${found.length} times`);
    const [receiverId] = found;
    this.#seen.delete(delivery);
    if (receiverId === undefined) {
      await office.retry(delivery);
      this.decisions.retried++;
    } else {
      await office.resolve(delivery, { by: "drill", note: "found there", receiverId });
      this.decisions.resolved++;
    }
  }
}

/** The platform's ids of what has this number there. Prices are simply sent again. */
async function idsOf(platform: Platform, flow: string, number: string): Promise<string[]> {
  const text = (record: Members, field: string): string => record[field] as string;
  if (flow === "invoices")
    return (await platform.records("invoices"))
      .filter((one) => one["invoiceNumber"] === number)
      .map((one) => text(one, "id"));
  if (flow === "customers" || flow === "suppliers")
    return (await platform.records("companies"))
      .filter(
        (one) =>
          (one["contact"] as Members | undefined)?.["externalId"] === number &&
          (one["type"] === "SUPPLIER") === (flow === "suppliers"),
      )
      .map((one) => text(one, "id"));
  return [];
}

/** The daemon was killed, or what he speaks of was settled meanwhile. */
const isGone = (error: unknown): boolean =>
  error instanceof Error &&
  /^(OfficeError|EnvironmentError|TypeError|SyntaxError)$/.test(error.name);
