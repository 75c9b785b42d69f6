"""From a configuration to a finished run: build the parts, walk the stream, evaluate, keep everything resumable."""
