import type { Command } from "commander";
import { addCommand } from "./command.ts";

export function openapi(program: Command): void {
  addCommand(program, "openapi", "the platform's API as OpenAPI 3.1", async ({ options }) => {
    if (options["markdown"] !== undefined) {
      const { referencePage } = await import("../platform/reference.ts");
      const text = referencePage();
      return { data: { markdown: text }, text };
    }
    const { openApi } = await import("../platform/contract/openapi.ts");
    const data = openApi();
    return { data, text: JSON.stringify(data, null, 2) };
  }).option("--markdown", "as the page of tables that is docs/platform-api.md");
}
