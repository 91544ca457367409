-- Mark parts before they are sent, and note what became of them after: many at once, each a step of its own.
--
-- A field of sent holds one part:  sending <attempt> <unknown outcomes> <mark>   refused <attempt> <unknown outcomes>
--                                  sent <platform id>                           unknown <attempt>
-- The field preview belongs to showing/show.lua: 'shown <number> <platform id>' is a message that shows the beginning of
-- the reply already. It becomes part 0 by being edited, which may be repeated and so needs no mark.
-- The attempt is the position: a copy of an older one that arrives late changes nothing. The mark names the attempt, so
-- that the same call, sent again because its reply was lost, is told from another's.
--
-- KEYS  1 leader (hash)  2 out (stream)  3 unknown (stream), then for each step  1 sent (hash)  2 traces (list)
-- ARGV  1 nonce  2 TTL of an unfinished reply (ms)  3 TTL of a delivered one (ms)  4 most unknown parts kept
--       5 their TTL (ms)  6 most attempts of unknown outcome at a part that was looked for
--       7 most of a session's traces kept  8 packed, for each step
--         1 what, see below  2 stream id of the reply  3 part  4 attempt, from 1  5 mark  6 is it the last part (1/0)
--         7 the platform's id  8 how it was delivered (JSON), or ''
-- What is to be done, by who is about to send the part:
--   sending  mark it. Of an unknown outcome nobody can know more
--   asking   the same, but what is unknown can be looked for: then nothing is changed, and it is said
--   looked   mark it: the attempt of unknown outcome was looked for and is not there
-- What became of it:
--   sent, refused    of the attempt with this mark
--   found            of the attempt of this number, whoever made it: it is there
--   edited, dropped  the preview became part 0, or is no more
--   seen, unseen     the preview, whose number stands in place of the attempt, was looked for: it is there, or is not
-- Returns for each step {status, number}
--   send     it is marked now: send it. The number is that of attempts whose outcome is unknown: it may arrive twice
--   edit     not marked: edit the preview of the platform's id that stands in place of the number
--   look     not marked: look for the part, the outcome of whose attempt with this number is unknown
--   preview  not marked: look for the preview with this number, of which nobody knows whether it is there
--   over     it was sent, or given up before: go on. When it is the last part the reply has left out
--   unknown  the outcome is unknown once too often (the second time, where nobody can look): it is given up now; else
--            as over
--   attempt  another attempt was made last, of this number: ask with the next one
--   stale    refused: somebody else sends now, or another attempt was made since
--   noted    the outcome is noted

local leads = redis.call('HGET', KEYS[1], 'nonce') == ARGV[1]

-- Taken out at the end, all at once.
local left = {}

local function leave(sent_key, stream_id)
  left[#left + 1] = stream_id
  redis.call('PEXPIRE', sent_key, ARGV[3])
end

local function over(sent_key, step, status)
  if step.last then leave(sent_key, step.stream_id) end
  return status, 0
end

local function list_unknown(sent_key, step, attempt, action)
  -- The key ends with the reply's id, and that begins with the session; neither holds a brace, nor a session '#'.
  local reply = string.match(sent_key, '}:sent:(.+)$')
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], '*', 'session', string.match(reply, '^[^#]*'), 'reply', reply,
    'part', step.part, 'attempt', attempt, 'action', action)
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
end

local function keep(sent_key, part, state)
  redis.call('HSET', sent_key, part, state)
  redis.call('PEXPIRE', sent_key, ARGV[2])
end

-- Once for each outcome that is noted, however often it is told; where a turn's trace is kept, which gave the list its TTL.
local function trace(traces_key, step)
  if step.trace == '' then return end
  local kept = redis.call('RPUSHX', traces_key, step.trace)
  if kept > tonumber(ARGV[7]) then redis.call('LTRIM', traces_key, -ARGV[7], -1) end
end

-- What the preview says about part 0: nothing, or a status and what goes with it.
local function by_preview(sent_key, step, preview)
  local stage, number, platform_id = string.match(preview, '^(%S+) (%d+) ?(.*)$')
  if stage == 'shown' then return 'edit', platform_id end
  if stage ~= 'sending' then return nil end
  -- Whoever was sending it is gone, for the leader asks only when his own is dealt with. Nobody knows whether it is there.
  if step.what == 'asking' then return 'preview', tonumber(number) end
  redis.call('HSET', sent_key, 'preview', 'unknown ' .. number)
  list_unknown(sent_key, step, number, 'preview')
  return nil
end

local function sending(sent_key, step)
  -- Only the leader begins anything.
  if not leads then return 'stale', 0 end
  local found = redis.call('HMGET', sent_key, step.part, 'preview')
  local state = found[1] or 'new 0 0'
  local word, rest = string.match(state, '^(%S+) ?(.*)$')
  if word == 'sent' then return over(sent_key, step, 'over') end
  -- Given up before, or by this very call, whose reply was lost.
  if word == 'unknown' then return over(sent_key, step, tonumber(rest) == step.attempt and 'unknown' or 'over') end
  if step.part == 0 and found[2] then
    local status, value = by_preview(sent_key, step, found[2])
    if status then return status, value end
  end

  local last, unknowns, mark = string.match(rest, '^(%d+) (%d+) ?(.*)$')
  last, unknowns = tonumber(last), tonumber(unknowns)
  if word == 'sending' and last == step.attempt and mark == step.mark then return 'send', unknowns end
  if step.attempt ~= last + 1 then return 'attempt', last end
  if word == 'sending' then
    if step.what == 'asking' then return 'look', last end
    unknowns = unknowns + 1
    local given_up = unknowns >= (step.what == 'looked' and tonumber(ARGV[6]) or 2)
    list_unknown(sent_key, step, last, given_up and 'given up' or 'resent')
    if given_up then
      keep(sent_key, step.part, 'unknown ' .. step.attempt)
      return over(sent_key, step, 'unknown')
    end
  end
  keep(sent_key, step.part, 'sending ' .. step.attempt .. ' ' .. unknowns .. ' ' .. step.mark)
  return 'send', unknowns
end

-- Outcomes are checked by the mark and not by the nonce: what was sent was sent, whoever leads now. While the mark stands
-- nobody has sent the part again, and the note keeps them from it.
-- What a preview became is known by the platform's id: it never stands for another message.
local function of_preview(sent_key, step, traces_key)
  local found = redis.call('HMGET', sent_key, step.part, 'preview')
  local number, shown = string.match(found[2] or '', '^shown (%d+) (.*)$')
  if shown ~= step.platform_id then return 'stale', 0 end
  if step.what == 'dropped' then
    -- What became part of the reply is not taken away any more.
    if found[1] then return 'stale', 0 end
    redis.call('HSET', sent_key, 'preview', 'gone ' .. number)
    return 'noted', 0
  end
  local sent = 'sent ' .. step.platform_id
  if found[1] and found[1] ~= sent then return 'stale', 0 end
  if not found[1] then trace(traces_key, step) end
  keep(sent_key, step.part, sent)
  if step.last then leave(sent_key, step.stream_id) end
  return 'noted', 0
end

-- What is there was sent, whoever has seen it; that it is not there only the leader may say, who has sent nothing since.
local function looked_for(sent_key, step)
  local found = redis.call('HGET', sent_key, 'preview') or ''
  local became = step.what == 'seen' and 'shown ' .. step.attempt .. ' ' .. step.platform_id or 'gone ' .. step.attempt
  if found == became then return 'noted', 0 end
  if step.what == 'unseen' and not leads then return 'stale', 0 end
  if tonumber(string.match(found, '^sending (%d+) ')) ~= step.attempt then return 'stale', 0 end
  redis.call('HSET', sent_key, 'preview', became)
  return 'noted', 0
end

local function outcome(sent_key, step, traces_key)
  if step.what == 'edited' or step.what == 'dropped' then return of_preview(sent_key, step, traces_key) end
  if step.what == 'seen' or step.what == 'unseen' then return looked_for(sent_key, step) end
  local arrived = step.what == 'sent' or step.what == 'found'
  local state = redis.call('HGET', sent_key, step.part) or ''
  local word, attempt, unknowns, mark = string.match(state, '^(%S+) (%d+) (%d+) ?(.*)$')
  local ours = mark == step.mark or step.what == 'found'
  if word == 'sending' and tonumber(attempt) == step.attempt and ours then
    if arrived and step.last then
      -- Its time begins to run below.
      redis.call('HSET', sent_key, step.part, 'sent ' .. step.platform_id)
    elseif arrived then
      keep(sent_key, step.part, 'sent ' .. step.platform_id)
    else
      keep(sent_key, step.part, 'refused ' .. attempt .. ' ' .. unknowns)
    end
    trace(traces_key, step)
  elseif not arrived or state ~= 'sent ' .. step.platform_id then
    return 'stale', 0
  end
  if arrived and step.last then leave(sent_key, step.stream_id) end
  return 'noted', 0
end

local begins = {sending = true, asking = true, looked = true}
-- One table for all steps, one after the other.
local results, step = {}, {}
local asked = cmsgpack.unpack(ARGV[8])
for number = 1, #asked / 8 do
  local last
  step.what, step.stream_id, step.part, step.attempt, step.mark, last, step.platform_id, step.trace =
    unpack(asked, 8 * number - 7, 8 * number)
  step.last = last == 1
  local handle = begins[step.what] and sending or outcome
  results[#results + 1], results[#results + 2] = handle(KEYS[2 * number + 2], step, KEYS[2 * number + 3])
end
for at = 1, #left, 1000 do redis.call('XDEL', KEYS[2], unpack(left, at, math.min(at + 999, #left))) end
return results
