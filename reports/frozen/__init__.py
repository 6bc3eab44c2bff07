"""Reports that do not change: computed again, compared, guarded, and by what versions they were made."""
