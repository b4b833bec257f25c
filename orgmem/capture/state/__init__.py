"""The client's one SQLite file: replicas, candidates, sessions, questions, deliveries. Only this package opens it.

Standard library only, since the Stop hook reads it while the assistant waits.
"""
