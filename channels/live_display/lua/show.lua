-- The message that shows a reply's text while it is being written: what is known of it, so that it becomes the reply.
--
-- The field preview of sent, which outbox/marks.lua reads:
--   sending <number> <mark>   it is being sent, or was when its sender died
--   shown <number> <platform id>
--   gone <number>             it was not taken, or taken away
--   unknown <number>          nobody knows whether it is there; listed
-- The number is the position: it rises with each message that is begun for the reply.
--
-- KEYS  1 leader (hash)  2 sent (hash)  3 unknown (stream)
-- ARGV  1 nonce  2 TTL of an unfinished reply (ms)  3 most unknown parts kept  4 their TTL (ms)
--       5 what (begin, shown, gone, unknown; found, missing: it was looked for)  6 number  7 mark  8 the platform's id
--       9 reply id  10 session  11 whether the platform can be asked what is there (1/0)
-- Returns {status, value}
--   send    it is marked now: send it
--   shown   somebody has sent it: the value is the platform's id, and its number stands before it
--   look    somebody was sending one of this number when he died: look for it
--   number  another number was the last one, this: ask with the next
--   over    the reply is being delivered, or nobody knows what became of the message: show nothing more
--   stale   refused: somebody else leads, or something else has happened since
--   noted   what became of it is noted

local what, number, mark, platform_id = ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8]
local word, last, rest = string.match(redis.call('HGET', KEYS[2], 'preview') or 'new 0 ', '^(%S+) (%d+) ?(.*)$')
last = tonumber(last)

local function keep(state)
  redis.call('HSET', KEYS[2], 'preview', state)
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
end

local function list_unknown()
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], '*', 'session', ARGV[10], 'reply', ARGV[9], 'part', 0,
    'attempt', last, 'action', 'preview')
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
  keep('unknown ' .. last)
end

if what == 'begin' then
  if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return {'stale', ''} end
  if redis.call('HEXISTS', KEYS[2], '0') == 1 then return {'over', ''} end
  if word == 'sending' and last == number and rest == mark then return {'send', ''} end
  if word == 'shown' then return {'shown', last .. ' ' .. rest} end
  -- Of a sender that died: two such texts are not to stand there.
  if word == 'sending' and ARGV[11] == '1' then return {'look', last} end
  if word == 'sending' then list_unknown() end
  if word == 'sending' or word == 'unknown' then return {'over', ''} end
  if number ~= last + 1 then return {'number', last} end
  keep('sending ' .. number .. ' ' .. mark)
  return {'send', ''}
end

-- What is there was sent, whoever has seen it; that it is not there only the leader may say, who has sent nothing since.
if what == 'found' or what == 'missing' then
  local became = what == 'found' and 'shown ' .. number .. ' ' .. platform_id or 'gone ' .. number
  if word .. ' ' .. last .. (rest ~= '' and ' ' .. rest or '') == became then return {'noted', ''} end
  local leads = what == 'found' or redis.call('HGET', KEYS[1], 'nonce') == ARGV[1]
  if not leads or word ~= 'sending' or last ~= number then return {'stale', ''} end
  keep(became)
  return {'noted', ''}
end

-- What was sent was sent, whoever leads now; the mark or the id says of which message it is told.
local ours = last == number and (word == 'sending' and rest == mark or word == 'shown' and rest == platform_id)
if what == 'gone' and last == number and word == 'gone' then return {'noted', ''} end
if what == 'unknown' and last == number and word == 'unknown' then return {'noted', ''} end
if not ours then return {'stale', ''} end
if what == 'shown' then
  if word == 'sending' then keep('shown ' .. number .. ' ' .. platform_id) end
elseif redis.call('HEXISTS', KEYS[2], '0') == 1 then
  -- It is a part of the reply by now.
  return {'stale', ''}
elseif what == 'gone' then
  keep('gone ' .. number)
else
  list_unknown()
end
return {'noted', ''}
