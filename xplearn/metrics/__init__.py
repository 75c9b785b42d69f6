"""From trajectories to figures: scores, cost, intervals and paired differences."""
