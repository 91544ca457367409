-- Part of the scripts of a scope's memory: its fields, who may write, and how a version is put in.
--
-- Versions and entries are counted for ever. What is at the beginning of their lists in Redis may be in the archive: the
-- fields versions_base and history_base tell how many, so that the one with index i lies at i - base.

-- The fields of a scope and of one of its sessions. An absent number is 0, an absent word ''.
local function fields_of(memory_key, session)
  local text, version, checksum, rejected, versions_base, history_base, upto, mark, fence, applied, flushed, set_back =
    unpack(redis.call('HMGET', memory_key, 'text', 'version', 'checksum', 'rejected', 'versions_base', 'history_base',
      'upto:' .. session, 'mark:' .. session, 'fence:' .. session, 'applied:' .. session, 'flushed:' .. session,
      'set_back:' .. session))
  return {
    text = text or '', version = tonumber(version or 0), checksum = checksum or '', rejected = tonumber(rejected or 0),
    versions_base = tonumber(versions_base or 0), history_base = tonumber(history_base or 0),
    upto = tonumber(upto or 0), mark = mark or '', fence = fence or '0 ', applied = applied or '',
    flushed = tonumber(flushed or -1), set_back = set_back or '0',
    set_backs = tonumber(string.match(set_back or '0', '^%d+')),
  }
end

-- Where else the memory is, or is about to go, when it may not be written here: {'joined', scope} or {'joining', ''};
-- else nil. See joining.py.
local function elsewhere(memory_key)
  local joined, joining = unpack(redis.call('HMGET', memory_key, 'joined', 'joining'))
  if joined then return {'joined', joined} end
  if joining then return {'joining', ''} end
  return nil
end

-- The highest fence that was seen of the session, when the lock of 'fence' and 'nonce' is not the newest one; else nil.
-- The same number is given to two locks when the session was set back by a failover: the nonce tells them apart.
local function behind(fields, fence, nonce)
  local highest, holder = string.match(fields.fence, '^(%d+) (.*)$')
  highest, fence = tonumber(highest), tonumber(fence)
  if highest > fence or (highest == fence and holder ~= nonce) then return highest end
  return nil
end

-- What prompts show when their conversation is consolidated, and beside the newest message until then (current.py). All
-- other kinds are shown at once.
local SHOWN_LATER = {flush = true, consolidation = true, digest = true}

-- Make 'text' the newest version, under the next number. 'record' is its JSON without number and text, never empty.
local function put(memory_key, versions_key, record, text)
  local number = tonumber(redis.call('HGET', memory_key, 'versions_base') or 0) + redis.call('LLEN', versions_key) + 1
  -- cjson escapes a slash, which nobody needs and no person wants to read.
  local encoded = string.gsub(cjson.encode(text), '\\/', '/')
  redis.call('RPUSH', versions_key,
    '{"version":' .. number .. ',' .. string.sub(record, 2, -2) .. ',"text":' .. encoded .. '}')
  if string.find(record, '"kind":"rejected"', 1, true) then
    redis.call('HSET', memory_key, 'rejected', number)
    return number
  end
  redis.call('HSET', memory_key, 'text', text, 'version', number, 'checksum', redis.sha1hex(text))
  if not SHOWN_LATER[string.match(record, '"kind":"(%a+)"')] then redis.call('HSET', memory_key, 'pinned', number) end
  return number
end

-- The prompts of a session show the newest version from now on: they change anyway, since its messages were consolidated.
local function pin(memory_key, session)
  redis.call('HSET', memory_key, 'pinned:' .. session, redis.call('HGET', memory_key, 'version') or 0)
end

-- A memory as the holder of a session's lock sees it: {text, version, checksum, upto, mark, flushed, set-backs,
--   the rejected version that the next request carries, how many raw entries are undigested}
local function state(memory_key, versions_key, undigested_key, session)
  local fields, rejected = fields_of(memory_key, session), ''
  if fields.rejected > fields.versions_base then
    rejected = redis.call('LINDEX', versions_key, fields.rejected - 1 - fields.versions_base) or ''
  end
  return {fields.text, fields.version, fields.checksum, fields.upto, fields.mark, fields.flushed, fields.set_backs,
    rejected, redis.call('LLEN', undigested_key)}
end

-- The versions from the one that was opened on, as far as they are here: what tells whether there were only appends.
local function since(versions_key, opened, fields)
  return redis.call('LRANGE', versions_key, math.max(0, tonumber(opened) - 1 - fields.versions_base), -1)
end
