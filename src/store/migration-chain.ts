/**
 * The audit as a chain. Entries from before are chained as they are when the store is migrated (chain.ts): until an entry
 * has its hash, that alone may be set.
 */
export const auditChained = `
  alter table audit add column chain blob;
  drop trigger audit_fixed;
  create trigger audit_fixed before update on audit
  when old.chain is not null or new.chain is null or new.audit <> old.audit or new.at_ms <> old.at_ms
    or new.flow is not old.flow or new.request is not old.request or new.delivery is not old.delivery
    or new.event <> old.event or new.detail <> old.detail or new.parts is not old.parts
    or new.who is not old.who or new.reason is not old.reason
  begin select raise(abort, 'the audit is append only'); end;
`;
