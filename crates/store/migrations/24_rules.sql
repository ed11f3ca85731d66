-- Rules, labels and hidden entries of people, and the devices that get notifications. Account 0 is
-- the person at this machine while there are no accounts.

create table rules (
  id integer primary key autoincrement,
  account bigint not null,
  name text not null,
  text text not null,              -- CREATE RULE …
  is_on smallint not null,
  since_entry bigint not null,     -- acts by itself on the entries after this one
  past_next bigint,                -- the stored entries after this one, up to since_entry, wait for
                                   -- it; null: none do
  n_acted bigint not null default 0,
  acted_at bigint,
  changed_at bigint not null,
  version bigint not null,         -- of rule_progress, when it was changed
  unique (account, name)
);

-- How far the rules have followed the stream. The version counts changes of rules, so that a step
-- under old rules is refused.
create table rule_progress (
  only_row integer primary key check (only_row = 1),
  done_to bigint not null,
  version bigint not null
);
insert into rule_progress (only_row, done_to, version) values (1, 0, 0);

create table labels (
  id integer primary key autoincrement,
  account bigint not null,
  name text not null,
  unique (account, name)
);
create table entry_labels (
  label bigint not null references labels (id) on delete cascade,
  entry bigint not null references entries (id) on delete cascade,
  by_rule smallint not null,       -- 0: a person gave it, and retention keeps the entry
  labelled_at bigint not null,
  primary key (label, entry)
) without rowid;
create index entry_labels_by_entry on entry_labels (entry);

-- Entries that a rule has hidden, as bits like read_marks. They are marked read too.
create table hidden_marks (
  account bigint not null,
  block bigint not null,
  bits blob not null,
  primary key (account, block)
) without rowid;

-- Notifications in the order in which rules made them.
create table notifications (
  id integer primary key autoincrement,
  account bigint not null,
  rule text not null,              -- its name
  entry bigint not null references entries (id) on delete cascade,
  made_at bigint not null
);
create index notifications_by_account on notifications (account, id);
create index notifications_by_entry on notifications (entry);

-- Browsers that take notifications (Web Push). A device that is logged out gets none.
create table push_devices (
  id integer primary key autoincrement,
  account bigint not null,
  session blob references sessions (digest) on delete cascade, -- null: without a session
  endpoint text not null unique,
  p256dh blob not null,            -- its public key
  auth blob not null,              -- its secret
  name text not null,
  created_at bigint not null,
  sent_to bigint not null,         -- the last notification that it got
  sent_at bigint,
  attempts bigint not null default 0,
  next_at bigint,                  -- null: at once
  error text
);
create index push_devices_by_account on push_devices (account);
create index push_devices_by_session on push_devices (session);
