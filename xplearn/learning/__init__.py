"""What learners share: losses, optimisers, batches. Needs torch."""
