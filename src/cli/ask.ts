/** For commands that need what is stored: the running daemon is asked; without one, the store is opened. */
import { remoteOffice } from "../console/remote.ts";
import type { Office } from "../report/office.ts";
import { loadConfiguration } from "./configuration.ts";
import { load } from "./load.ts";

export async function ask<Result>(
  file: string,
  question: (office: Office) => Promise<Result>,
): Promise<Result> {
  const config = await loadConfiguration(file);
  const remote = await remoteOffice(config.state);
  if (remote !== null) return question(remote);
  const { openOffice } = await load.compose();
  const opened = await openOffice(config);
  try {
    return await question(opened.office);
  } finally {
    await opened.close();
  }
}
