/**
 * Ten thousand random bills, orders and tickets through our IDocs and back.
 *
 * @module-tag numbers
 */
import { roundTrips } from "./round-trip.suite.ts";

roundTrips(10_000);
