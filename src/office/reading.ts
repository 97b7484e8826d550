/** What a command that holds the store for a while answers to other commands: questions, and no decisions. */
import { type Office, OfficeError } from "./office.ts";

/** The same office for readers. `command`: the words after `fuelbridge` of the one that holds the store. */
export function readingOffice(office: Office, command: string): Office {
  const refuse = async (): Promise<never> => {
    throw new OfficeError(
      `"fuelbridge ${command}" (process ${process.pid}) works on the store, so nothing else can change it now.`,
      "Wait until it has ended, then give the command again.",
    );
  };
  return {
    ...office,
    async status() {
      const status = await office.status();
      const { startedAt } = status.daemon ?? { startedAt: STARTED };
      return { ...status, daemon: { pid: process.pid, startedAt, command } };
    },
    reconcile: refuse,
    backfillCost: refuse,
    backfill: refuse,
    backfillBegin: refuse,
    retry: refuse,
    resolve: refuse,
    assign: refuse,
    remark: refuse,
    edit: refuse,
    runNow: refuse,
    release: refuse,
    pause: refuse,
    goOn: refuse,
    acceptList: refuse,
    settleUnread: refuse,
    addRow: refuse,
    wasDone: refuse,
  };
}

const STARTED = new Date().toISOString();
