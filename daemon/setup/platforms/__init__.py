"""The part of ``millpond init`` that belongs to one platform: its questions, its API calls, and finding the owner.

No public names: import from the modules. Begin with ``<platform>_interview``; ``<platform>_pairing`` identifies the
owner.
"""
