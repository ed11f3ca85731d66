-- The kind of a feed's last trouble, as a code. Before, advice was found by searching the error's
-- words; the same search fills in the rows that exist.
alter table feed_state add column trouble text;

update feed_state set trouble = case
  when lower(error) like '%tls%' or lower(error) like '%certificate%'
    or lower(error) like '%site of this name%' then 'tls'
  when lower(error) like '%not a public address%' then 'not-public'
  when lower(error) like '%no such host%' then 'no-such-host'
  when lower(error) like '%cannot be looked up%' then 'lookup'
  when lower(error) like '%the limit for a feed%' then 'too-large'
  when lower(error) like '%within%' then 'timeout'
end
where error is not null and last_outcome in ('refused', 'failed');

-- A cause is a code as well; this one was compared as a sentence.
update feed_state set cause = 'push-check' where cause = 'safety net while its hub pushes';
