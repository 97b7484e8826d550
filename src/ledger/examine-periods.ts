/** The periods of what is about to be booked: of today and the next two months, and of documents that are stored and wait. */
import type { Surroundings } from "../core/contract.ts";
import type { DayToBook, Examination, Needs } from "../core/examination.ts";
import type { Fault } from "../core/fault.ts";
import type { Books } from "./port.ts";
import { faultOf } from "./examine.ts";

/** Days are `YYYY-MM-DD`, both included. */
export interface BookPeriod {
  readonly name: string;
  readonly isOpen: boolean;
  readonly from: string;
  readonly to: string;
}

export interface Periods {
  readonly books: Pick<Books, "name" | "errors">;
  readonly surroundings: Pick<Surroundings, "now" | "dayOf">;
  /** All that touch these days. @throws a fault of the books */
  readonly between: (from: string, to: string) => Promise<readonly BookPeriod[]>;
}

type Of = (date: string) => BookPeriod | undefined;

/** One call for all of them. */
export async function periodExaminations(
  { books, surroundings, between }: Periods,
  { days }: Pick<Needs, "days">,
): Promise<Examination[]> {
  const soon = monthsFrom(surroundings.dayOf(surroundings.now().toISOString()));
  const dates = [...soon, ...days.map((one) => one.day)].toSorted();
  let periods: readonly BookPeriod[] = [];
  const unreadable = await faultOf(books, [
    "periods",
    async () => {
      periods = await between(dates[0] ?? "", dates.at(-1) ?? "");
      return null;
    },
  ]);
  if (unreadable !== null) return [{ what: "periods", fault: unreadable }];
  const on: Of = (date) => periods.find(({ from, to }) => from <= date && date <= to);
  const fault = (date: string) => periodFault(books.name, date, on(date));
  return [
    ...soon.map((date) => ({ what: `open period for ${date}`, fault: fault(date) })),
    ...waiting(days, on, fault),
  ];
}

function periodFault(books: string, date: string, period: BookPeriod | undefined): Fault | null {
  if (period?.isOpen === true) return null;
  return {
    code: "closed-period",
    message: period ? `period ${period.name} is closed` : `there is no period for ${date}`,
    next: period
      ? `An accountant opens the period in ${books}.`
      : `An accountant creates the fiscal year with its periods in ${books}.`,
  };
}

/** One line for all that wait; or one for each period that cannot take its documents. */
function waiting(
  days: readonly DayToBook[],
  on: Of,
  faultOn: (date: string) => Fault | null,
): Examination[] {
  if (days.length === 0) return [];
  const shut = days.filter(({ day: date }) => faultOn(date) !== null);
  const byPeriod = Map.groupBy(shut, ({ day: date }) => on(date)?.name ?? date.slice(0, 7));
  if (shut.length === 0)
    return [{ what: `open periods for ${documents(sum(days))} that wait`, fault: null }];
  return [...byPeriod].map(([name, group]): Examination => {
    const first = group.map((one) => one.day).toSorted()[0] ?? "";
    const fault = faultOn(first);
    const flows = [...Map.groupBy(group, ({ flow }) => flow)]
      .map(([flow, its]) => `${sum(its)} of ${flow}`)
      .join(", ");
    const message = `${fault?.message ?? ""}: ${flows}, from ${first} on, cannot be booked`;
    return { what: `period ${name}`, fault: fault && { ...fault, message } };
  });
}

const sum = (days: readonly DayToBook[]): number => days.reduce((all, { count }) => all + count, 0);

const documents = (count: number): string => `${count} document${count === 1 ? "" : "s"}`;

/** Today and the first days of the next two months. */
function monthsFrom(today: string): string[] {
  const firstOf = (ahead: number): string => {
    const date = new Date(`${today.slice(0, 7)}-01T00:00:00Z`);
    date.setUTCMonth(date.getUTCMonth() + ahead);
    return date.toISOString().slice(0, 10);
  };
  return [today, firstOf(1), firstOf(2)];
}
