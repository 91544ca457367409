"""The canary run: two persons and a group among hostile turns; what one scope knows may never be seen in another."""
