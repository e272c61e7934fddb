// Package testcert makes certificates for tests.
package testcert
