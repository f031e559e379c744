package loadgen

// KernelStamps reports whether this system's kernel notes when packets arrive, and lets us have it.
func KernelStamps() bool { return false }
