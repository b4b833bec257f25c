"""Evaluations: how good the gate, retrieval and curation are on given data. No part of any run."""
