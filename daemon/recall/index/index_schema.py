"""The schema of the index of a scope. The index is a copy, and is deleted if it is wrong."""

from daemon.recall.search_terms import TOKENIZER

SCHEMA = 3
"""Number of this form, ``PRAGMA user_version``; raise it when the form changes, or what becomes of words and texts."""

CACHE_KIB = 128
"""Pages that a connection keeps in memory; a hundred scopes are open at a time, and the system caches the file too."""

WAL_MAX_BYTES = 4 * 1024 * 1024
"""What the write-ahead log is cut to once it has been taken over into the file."""

BUSY_MS = 100
"""How long a statement waits for another process; who feeds is not waited for, so this is for moments only."""

PRAGMAS = f"""
PRAGMA busy_timeout = {BUSY_MS};
PRAGMA cache_size = -{CACHE_KIB};
PRAGMA temp_store = MEMORY;
PRAGMA secure_delete = ON;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = {WAL_MAX_BYTES};
"""
"""Of every connection. What is deleted is overwritten, and what is sorted is never written into temporary files."""

ONE_OF = "IN (SELECT value FROM json_each(?))"
"""One of the numbers of a JSON list. With a mark for each, every count of them is a statement of its own, of which a
connection keeps 128, each of 23 kB: a hundred scopes would hold 290 MB for searches that find now more, now less."""

TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

-- How far each source is fed: 'history', 'notes', 'versions' and 'log <session>', to one past the last record that was
-- taken in, and what that is known by, so that it is noticed when Redis was set back. Also 'gap <session> <first>':
-- messages that could not be read when it was their turn, up to 'upto'; and 'scope <scope>': whose messages there are.
CREATE TABLE fed (source TEXT PRIMARY KEY, upto INTEGER NOT NULL, last TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  next INTEGER NOT NULL  -- line at which the next record begins
);

CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  file INTEGER NOT NULL,
  first INTEGER NOT NULL, part INTEGER NOT NULL, upto INTEGER NOT NULL,
  docid INTEGER NOT NULL,
  kind TEXT NOT NULL,
  time TEXT NOT NULL,
  speaker TEXT NOT NULL,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  form TEXT NOT NULL,  -- 'evidence.Form'
  terms TEXT NOT NULL,  -- of the text, as 'words.indexed' gives them
  about TEXT NOT NULL  -- of who said it, when, below which heading
);
CREATE INDEX chunk_place ON chunk (file, first, part);
CREATE INDEX chunk_docid ON chunk (docid);
CREATE INDEX chunk_time ON chunk (time);

-- The current MEMORY.md, and older versions of which lines are kept that no newer one holds; all other lines of these
-- are empty, but for headings.
CREATE TABLE version (number INTEGER PRIMARY KEY, time TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE gone (line TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;

-- Which chunks hold a term. No more: places within a text are not asked for, and what FTS5 calls a rank takes 50 times
-- as long as counting what was found, see 'ranking.py'.
CREATE VIRTUAL TABLE words USING fts5 (terms, content = '', detail = none, tokenize = '{TOKENIZER}');
CREATE VIRTUAL TABLE term USING fts5vocab (words, row);

PRAGMA user_version = {SCHEMA};
"""
