"""The columns that differ from run to run, named once.

Two tables are equal when their row sets are equal after dropping these: clock readings of the run
itself and its random id. `observed_at` is not among them: it comes with the data.
"""

CLOCK_COLUMNS: frozenset[str] = frozenset(
    {"approved_at", "created_at", "decided_at", "rejected_at", "run_id", "taken_at", "client"}
)
