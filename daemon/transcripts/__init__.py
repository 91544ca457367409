"""Transcripts: what was said in a session, from its first message to its last, whatever has left Redis since.

``Transcripts`` joins archive and log.
"""

from daemon.transcripts.transcripts import Piece, Transcripts

__all__ = ["Piece", "Transcripts"]
