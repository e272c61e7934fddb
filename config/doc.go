// Package config reads the configuration of a node: flags, then environment,
// then file, then defaults.
//
// A file's way through [Load]: it is parsed into YAML nodes, which know their
// lines; a walk beside the schema (taken from the types below [Config]) finds
// unknown and repeated names and values of a wrong type, and turns the rest
// into typed values. So it goes with each file of policies_dir, which is one
// policy more. Environment variables and flags become typed values by the same
// rules. viper lays the layers over each other and fills a Config, whose
// values are then checked alone and against each other. Every fault found on
// the way is reported at once, with the file and line, the variable or the
// flag that it came from, as [*Faults]. What is sound and likely not meant is
// kept for [Config.Warnings].
//
// Strict: a name that is unknown or differs in case, a duration without a
// unit, a fraction where a whole number belongs, YAML aliases, tags, further
// documents and encodings other than UTF-8 are refused. A setting without a
// value (null) counts as left out, and so does an empty environment variable.
// Names of policies and limits keep their case, and names that differ only in
// case are different.
//
// A [Watch] loads a configuration again when a file of it has changed. It has
// neither goroutine nor clock: whoever owns it looks from time to time.
//
// Not promised: that what Load accepts can also be listened on, joined or
// opened by this machine. Load reads the files that the configuration names
// (certificates, secrets) and changes nothing.
package config
