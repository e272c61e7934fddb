// Package leak fails a package's tests when they leave goroutines behind.
package leak
