"""For the authors of parts: contract tests to inherit, an agent to test against, samples, golden traces. Needs pytest."""
