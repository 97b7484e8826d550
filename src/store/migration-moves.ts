/**
 * What each move of a delivery and of a request costs (ADR 0077). A trigger that is there doubles the price of an update,
 * one that runs before it more than one that runs after it; and an index on open requests is written twice for each. A
 * list of three or more values after `in` is a table that SQLite makes for each row: values are compared one by one.
 */
import { deliveryMoves } from "../core/delivery-state.ts";
import { legalMoves } from "../core/request-state.ts";
import { moves } from "./migration-facts.ts";

const guards = `
  -- What it refuses it takes back, as one that runs before.
  create trigger delivery_moves after update of state on delivery when old.state <> new.state
  begin
    select raise(abort, 'illegal move of a delivery') where not (${moves(deliveryMoves)});
    update delivery_count set count = count - 1 where flow = old.flow and state = old.state;
    insert into delivery_count (flow, state, count) values (new.flow, new.state, 1)
    on conflict do update set count = count + 1;
  end;
  create trigger request_moves after update of state on request
  when old.state <> new.state and not (${moves(legalMoves)})
  begin select raise(abort, 'illegal move of a request'); end;
`;

export const lighterMoves = `
  drop trigger delivery_moves;
  drop trigger delivery_moved;
  drop trigger request_moves;
  ${guards}
  -- Open requests are found by their lane, and those of a flow among all that are open.
  drop index request_open;
  drop index request_lane;
  create index request_lane on request (lane, flow) where live = 1;
`;

/** For stores from before the values were compared one by one. */
export const comparedMoves = `
  drop trigger delivery_moves;
  drop trigger request_moves;
  ${guards}
`;
