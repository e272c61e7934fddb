//go:build !race

package race

// Enabled is set when the race detector is built in.
const Enabled = false
