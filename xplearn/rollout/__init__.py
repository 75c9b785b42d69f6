"""Playing episodes: environment pools and the collector."""
