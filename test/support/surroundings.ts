export { surroundingsIn } from "../../src/cli/demo/surroundings.ts";
