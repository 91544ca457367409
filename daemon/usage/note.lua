-- Add what a claim of a turn has used to the day's accounts, once: the claim is named.
--
-- KEYS  1 noted (hash)  2 of bots (hash)  3 of persons (hash)  4 of sessions (hash)  5 of models (hash)
-- ARGV  1 the claim's name  2 TTL of the accounts (ms)  3 TTL of noted (ms)
--       4... what to add, three each: number of the key, field, amount
-- Returns 'noted', or 'over' when it was noted before, also by this very call

local function add(account_key, field, amount) redis.call('HINCRBY', account_key, field, amount) end

local function kept(account_key, ttl)
  -- Once: each time would be one more line in the append-only file.
  if redis.call('PTTL', account_key) < 0 then redis.call('PEXPIRE', account_key, ttl) end
end

if redis.call('HSETNX', KEYS[1], ARGV[1], '1') == 0 then return 'over' end
for at = 4, #ARGV, 3 do add(KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2]) end
kept(KEYS[1], ARGV[3])
kept(KEYS[2], ARGV[2])
kept(KEYS[3], ARGV[2])
kept(KEYS[4], ARGV[2])
kept(KEYS[5], ARGV[2])
return 'noted'
