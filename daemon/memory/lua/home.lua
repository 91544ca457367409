-- Where a scope's memory is, and whether there is any of its own. Changes nothing.
--
-- KEYS  1 memory (hash)  2 history (list)  3 notes (list)
-- ARGV  none
-- Returns {scope that it was joined with, or '', how many of the keys there are}

return {redis.call('HGET', KEYS[1], 'joined') or '', redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3])}
