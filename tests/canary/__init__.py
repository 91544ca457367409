"""The canary run: two persons and a group among hostile turns; what one scope knows may never be seen in another.

``attackers`` has four tables besides: what a stranger, a group member, a local user and an injected model try.
"""
