"""Exports all data of a person or a group as one file.

Public: ``subject_of`` finds the scopes and sessions, ``export`` writes them into a ``ZipWriter``, ``export_here``
stores the file for its owner.
Begin with ``export_contents``.
"""

from daemon.export.export_contents import EXPORTS, ExportResult, Sources, export
from daemon.export.export_subject import ExportSubject, family, person_in, person_scopes, subject_of
from daemon.export.kept_export import KeptExport, export_here
from daemon.export.zip_writer import ZipWriter

__all__ = [
    "EXPORTS",
    "ExportResult",
    "ExportSubject",
    "KeptExport",
    "Sources",
    "ZipWriter",
    "export",
    "export_here",
    "family",
    "person_in",
    "person_scopes",
    "subject_of",
]
