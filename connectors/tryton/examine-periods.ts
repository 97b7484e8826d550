/** The periods of what is about to be booked: of today and the next two months, and of documents that are stored and wait. */
import type { DayToBook, Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import { faultOf } from "./look.ts";
import { day } from "./values.ts";

interface Period {
  readonly name: string;
  readonly state: string;
  readonly start_date: string;
  readonly end_date: string;
}

/** One call for all of them. */
export async function periodExaminations(
  books: Books,
  { days }: Pick<Needs, "days">,
): Promise<Examination[]> {
  const { surroundings } = books;
  const soon = monthsFrom(surroundings.dayOf(surroundings.now().toISOString()));
  let periods: readonly Period[] = [];
  const dates = [...soon, ...days.map((one) => one.day)].toSorted();
  const unreadable = await faultOf([
    "periods",
    async () => {
      periods = await periodsOf(books, dates[0] ?? "", dates.at(-1) ?? "");
      return null;
    },
  ]);
  if (unreadable !== null) return [{ what: "periods", fault: unreadable }];
  const on = (date: string): Period | undefined =>
    periods.find(({ start_date: from, end_date: to }) => from <= date && date <= to);
  return [
    ...soon.map((date) => ({
      what: `open period for ${date}`,
      fault: periodFault(date, on(date)),
    })),
    ...waiting(days, on),
  ];
}

function periodsOf({ tryton }: Books, from: string, to: string): Promise<Period[]> {
  return tryton.session().then(({ company }) =>
    tryton.call<Period[]>("model.account.period.search_read", [
      [
        ["company", "=", company],
        ["type", "=", "standard"],
        ["end_date", ">=", day(from)],
        ["start_date", "<=", day(to)],
      ],
      0,
      null,
      null,
      ["name", "state", "start_date", "end_date"],
    ]),
  );
}

function periodFault(date: string, period: Period | undefined): Fault | null {
  if (period?.state === "open") return null;
  return {
    code: "closed-period",
    message: period ? `period ${period.name} is closed` : `there is no period for ${date}`,
    next: period
      ? "An accountant opens the period in Tryton."
      : "An accountant creates the fiscal year with its periods in Tryton.",
  };
}

/** One line for all that wait; or one for each period that cannot take its documents. */
function waiting(
  days: readonly DayToBook[],
  on: (date: string) => Period | undefined,
): Examination[] {
  if (days.length === 0) return [];
  const shut = days.filter(({ day: date }) => periodFault(date, on(date)) !== null);
  const byPeriod = Map.groupBy(shut, ({ day: date }) => on(date)?.name ?? date.slice(0, 7));
  if (shut.length === 0)
    return [{ what: `open periods for ${documents(sum(days))} that wait`, fault: null }];
  return [...byPeriod].map(([name, group]): Examination => {
    const first = group.map((one) => one.day).toSorted()[0] ?? "";
    const fault = periodFault(first, on(first));
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
