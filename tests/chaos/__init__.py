"""The chaos run: real processes are killed and paused while messages flow, then every answer is counted."""
