"""What answers: retrieval, and the doors to it."""
