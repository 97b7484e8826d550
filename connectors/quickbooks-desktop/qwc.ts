/** The `.qwc` file that an administrator opens in the Web Connector: who calls which address. It has no password. */
import type { DesktopConfig } from "./config.ts";
import { escaped } from "./xml.ts";

/** Of this program, at every site. */
const OWNER = "{3f0b2d8e-5c1a-4c8a-9a61-7f0f1f6f2a11}";
const MINUTES = 10;

export function qwcOf({ url, user, company, fileId }: DesktopConfig): string {
  const support = new URL("/support", url).href;
  const fields = {
    AppName: `fuelbridge - ${company}`,
    AppID: "",
    AppURL: url,
    AppDescription: "Keeps QuickBooks and the fuel-logistics platform in step",
    AppSupport: support,
    UserName: user,
    OwnerID: OWNER,
    FileID: `{${fileId}}`,
    QBType: "QBFS",
    Style: "Document",
  };
  const lines = Object.entries(fields).map(
    ([name, text]) => `  <${name}>${escaped(text)}</${name}>`,
  );
  return [
    '<?xml version="1.0"?>',
    "<QBWCXML>",
    ...lines,
    `  <Scheduler><RunEveryNMinutes>${MINUTES}</RunEveryNMinutes></Scheduler>`,
    "  <IsReadOnly>false</IsReadOnly>",
    "</QBWCXML>",
    "",
  ].join("\n");
}
