import type { Command } from "commander";
import { addCommand } from "./command.ts";

export function schema(program: Command): void {
  addCommand(program, "schema", "the JSON Schema of the configuration, for editors", async () => {
    const [{ jsonSchema }, { connectors }, { mappings }] = await Promise.all([
      import("../config/schema.ts"),
      import("../../connectors/index.ts"),
      import("../../mappings/index.ts"),
    ]);
    const data = jsonSchema(connectors, mappings);
    return { data, text: JSON.stringify(data, null, 2) };
  });
}
