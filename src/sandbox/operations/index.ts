import type { OperationId } from "../../platform/contract/operations.ts";
import type { Handlers } from "./call.ts";
import { deliveryTickets } from "./delivery-tickets.ts";
import { connections } from "./freight.ts";
import { invoices } from "./invoices.ts";
import { orders } from "./orders.ts";
import { parties, places } from "./places.ts";
import { pricing } from "./pricing.ts";

/** Every operation of the contract, carried out on the sandbox's records. */
export const handlers: Handlers<OperationId> = {
  ...orders,
  ...deliveryTickets,
  ...invoices,
  ...pricing,
  ...connections,
  ...parties,
  ...places,
};
