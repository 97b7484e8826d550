import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { channelsOf, testMessage } from "../alerts/alerts.ts";
import { ConfigurationError, exitCodes } from "../core/errors.ts";
import type { Answer } from "./answer.ts";
import { addCommand } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";

export function alerts(program: Command): void {
  const parent = program.command("alerts").description("messages when something goes wrong");
  addCommand(
    parent,
    "test",
    "send a test message to each channel",
    ({ file }) => tryAll(file),
    "each",
  );
}

/** Exit 1 when a channel did not take it. @throws ConfigurationError when there is none */
async function tryAll(file: string): Promise<Answer> {
  const { alerts, company } = await loadConfiguration(file);
  const channels = channelsOf(alerts);
  if (channels.length === 0)
    throw new ConfigurationError(
      `No alerts are configured in ${file}.`,
      "Add alerts.webhook or alerts.email; docs/operations.md has an example.",
    );
  const message = testMessage(company, Date.now(), randomBytes(16).toString("hex"));
  const tried = await Promise.all(
    channels.map(async (channel) => {
      const { name } = channel;
      const fault = await channel.send(message).then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      return { channel: name, sent: fault === null, fault };
    }),
  );
  return {
    data: { id: message.id, channels: tried },
    text: tried
      .map(({ channel, fault }) =>
        fault === null ? `${channel}: sent` : `${channel}: not sent: ${fault}`,
      )
      .join("\n"),
    exitCode: tried.every(({ sent }) => sent) ? exitCodes.ok : exitCodes.runtime,
  };
}
