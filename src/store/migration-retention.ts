/**
 * Bytes of replaced requests go when their time is over (retention.ts): what was sent is then known by its hash. Nothing
 * else of a frozen request changes, and none that is not final loses its bytes.
 */
export const bytesMayGo = `
  alter table request add column body_gone_ms integer;
  drop trigger request_frozen;
  create trigger request_frozen before update of body, target, body_sha256, body_gone_ms on request
  when not (old.live is null and old.body_gone_ms is null and new.body_gone_ms is not null and new.body = ''
    and new.target = old.target and new.body_sha256 = old.body_sha256)
  begin select raise(abort, 'frozen bytes do not change'); end;

  -- Which deliveries did a request carry before?
  create index carried_before_request on carried_before (request);
`;
