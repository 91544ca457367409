"""Exports: everything that is kept of a person, a group or another scope, as one file.

``subject_of`` finds out what belongs together, ``export`` writes it into a ``ZipWriter``, ``export_here`` leaves the
file among the scope's own.
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
