"""Finding by meaning: vectors of what a scope remembers, beside the index of words."""
