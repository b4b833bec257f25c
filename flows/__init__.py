"""Composition only: ingest, curate, maintain, snapshot."""
