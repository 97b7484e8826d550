/** What the errors of both servers mean. */
import { errorTable, TRIED_AGAIN } from "../../src/ledger/errors.ts";

const SCHEMA =
  "Compare the tables and views with fuelbridge sql schema, and correct them; doctor names what differs.";

/** The first row that matches counts; a commit that no row knows is unknown. */
export const errors = errorTable({
  "#28P01|28000|1045|1698|1044|3D000|1049 configuration:credentials unauthorised":
    "Correct database, user and password in the configuration, or let the database administrator allow this user.",
  "#42501|1142|1143 configuration:scope forbidden":
    "Let the database administrator grant select, insert and update on the tables that fuelbridge sql schema prints.",
  "#42P01|42703|1146|1054|1364 configuration:scope other-schema": SCHEMA,
  // Somebody wrote the same version, or the ERP's job took the row.
  "#23505|1062|raced raced raced": TRIED_AGAIN,
  "#held busy:60000 held": TRIED_AGAIN,
  "#40001|40P01|55P03|57014|1205|1213|1020|53300|53400|1040|1203 busy:5000 busy": TRIED_AGAIN,
  "#22.*|23.*|1406|1264|1265|1366|1292|1048|1452|4025|3819 data refused-by-database":
    "Correct what the message names in the document where it comes from, or the table by fuelbridge sql schema; then retry.",
});
