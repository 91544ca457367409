"""Exports: everything that is kept of a person, a group or another scope, as one file.

``subject_of`` finds out what belongs together, ``export`` writes it into a ``Package``, ``export_here`` leaves the file
among the scope's own.
"""

from daemon.export.export_contents import EXPORTS, Exported, Sources, export
from daemon.export.export_subject import Subject, family, person_in, person_scopes, subject_of
from daemon.export.kept_export import Kept, export_here
from daemon.export.zip_writer import Package

__all__ = [
    "EXPORTS",
    "Exported",
    "Kept",
    "Package",
    "Sources",
    "Subject",
    "export",
    "export_here",
    "family",
    "person_in",
    "person_scopes",
    "subject_of",
]
