// Package race tells whether the race detector is built in.
package race
