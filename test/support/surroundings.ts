export { surroundingsIn } from "../../src/demo/surroundings.ts";
