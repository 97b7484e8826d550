/** What only a database between fuelbridge and the ERP needs. */
import { Argument, type Command } from "commander";
import { type Dialect, dialects } from "../ledger/sql.ts";
import { addBareCommand } from "./command.ts";

export function sql(program: Command): void {
  const group = program.command("sql").description("what only the connector sql-staging needs");
  addBareCommand(
    group,
    "schema",
    "the tables that the database administrator creates: fuelbridge sql schema postgresql",
    async ({ args }) => {
      const dialect = args[0] as Dialect;
      const { schemaOf } = await import("../../connectors/sql-staging/schema.ts");
      const schema = schemaOf(dialect);
      return { data: { dialect, schema }, text: schema };
    },
  ).addArgument(new Argument("<dialect>", "the server").choices(dialects));
}
