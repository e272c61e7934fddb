package murmurate

import "runtime/debug"

// Version is the version of this module in the running program: the release
// it was built from, or "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return develVersion
	}
	const path = "github.com/murmurate/murmurate"
	modules := append([]*debug.Module{&info.Main}, info.Deps...)
	for _, m := range modules {
		if m.Path == path && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return develVersion
}

const develVersion = "devel"
