/**
 * Ten thousand random bills, orders and tickets through our IDocs and back.
 *
 * @module-tag numbers
 */
import { roundTrips } from "../../../test/files/idoc-round-trip.ts";

roundTrips(10_000);
