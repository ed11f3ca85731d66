-- Roles of accounts. Accounts from before this step could change everything, so they are admins.
alter table accounts add column role text not null default 'admin';   -- admin or reader

-- Facts by which a person recognises their sessions.
alter table sessions add column device text not null default '';      -- the User-Agent
alter table sessions add column address text not null default '';
alter table sessions add column seen_at bigint;                       -- to the hour

-- Logins at an identity provider. Only the issuer and its subject identify a person; names and
-- mail addresses can change hands.
create table identities (
  issuer text not null,
  subject text not null,
  account bigint not null references accounts (id) on delete cascade,
  created_at bigint not null,
  primary key (issuer, subject)
) without rowid;
create index identities_by_account on identities (account);
