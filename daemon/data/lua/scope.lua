-- All that a scope remembers, as it stands at this moment. Writes nothing.
--
-- KEYS  1 memory (hash)  2 history (list)  3 versions (list)  4 notes (list)  5 undigested (list)  6 shelved (list)
-- ARGV  none
-- Returns {hash, history, versions, notes, undigested, shelved}

return {redis.call('HGETALL', KEYS[1]), redis.call('LRANGE', KEYS[2], 0, -1), redis.call('LRANGE', KEYS[3], 0, -1),
  redis.call('LRANGE', KEYS[4], 0, -1), redis.call('LRANGE', KEYS[5], 0, -1), redis.call('LRANGE', KEYS[6], 0, -1)}
