"""Whether archives are right: checks, digest manifests, reports."""
