/** Examines the folder that it is given, as the user that runs it, and prints what it finds as JSON. */
import { examined } from "./examine.ts";

const [, , folder = ""] = process.argv;
process.stdout.write(JSON.stringify(await examined(folder)));
