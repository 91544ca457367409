"""The supply chain: the lock of all dependencies (``lock``), and the list of everything that is installed (``sbom``)."""
