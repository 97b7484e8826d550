/** Every connector. A new one is a folder here and a line in this list. */
import { businessCentral } from "./business-central/index.ts";
import { example } from "./example/index.ts";
import { files } from "./files/index.ts";
import { quickbooksDesktop } from "./quickbooks-desktop/index.ts";
import { quickbooksOnline } from "./quickbooks-online/index.ts";
import { sqlStaging } from "./sql-staging/index.ts";
import { tryton } from "./tryton/index.ts";
import type { Connector } from "../src/core/contract.ts";

export const connectors: readonly Connector[] = [
  businessCentral,
  example,
  files,
  quickbooksDesktop,
  quickbooksOnline,
  sqlStaging,
  tryton,
];
