"""The supply chain: the lock of all dependencies (``lock``), and the list of all installed packages (``sbom``)."""
