"""The command line: one module a verb group; heavy imports stand inside the verbs."""
